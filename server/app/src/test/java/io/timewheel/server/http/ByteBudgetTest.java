// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ByteBudgetTest {
  private final ByteBudget budget = new ByteBudget(100);

  @Test
  void aClientHasHalfOfTheBytes() {
    ByteBudget.Reservation first = budget.of("a");
    assertThat(first.reserve(50)).isTrue();
    assertThat(budget.of("a").reserve(1)).isFalse();
    assertThat(budget.of("b").reserve(50)).isTrue();
    assertThat(budget.of("c").reserve(1)).as("all are taken").isFalse();
    first.release(20);
    assertThat(budget.of("a").reserve(20)).isTrue();
    first.release();
    first.release();
    assertThat(budget.of("c").reserve(30)).isTrue();
    assertThat(budget.of("c").reserve(1)).isFalse();
  }

  @Test
  void aReleaseIsLimitedToTheReservedBytes() {
    ByteBudget.Reservation first = budget.of("a");
    assertThat(first.reserve(50)).isTrue();
    first.release(1000);
    assertThat(budget.of("a").reserve(50)).isTrue();
    assertThat(budget.of("a").reserve(1)).isFalse();
  }
}
