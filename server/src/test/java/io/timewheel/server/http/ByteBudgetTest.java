// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.server.security.Caller;
import io.timewheel.server.security.Role;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ByteBudgetTest {
  private final ByteBudget budget = new ByteBudget(100);

  private ByteBudget.Reservation of(String name) {
    return budget.of(new Caller(name, Set.of(Role.READ), Set.of()));
  }

  @Test
  void aTokenHasHalfOfTheBytes() {
    ByteBudget.Reservation first = of("a");
    assertThat(first.reserve(50)).isTrue();
    assertThat(of("a").reserve(1)).isFalse();
    assertThat(of("b").reserve(50)).isTrue();
    assertThat(of("c").reserve(1)).as("all are taken").isFalse();
    first.release(20);
    assertThat(of("a").reserve(20)).isTrue();
    first.release();
    first.release();
    assertThat(of("c").reserve(30)).isTrue();
    assertThat(of("c").reserve(1)).isFalse();
  }

  @Test
  void aServerWithoutTokensHasOneCallerForAllBytes() {
    ByteBudget.Reservation all = budget.of(Caller.LOCAL);
    assertThat(all.reserve(100)).isTrue();
    assertThat(all.reserve(1)).isFalse();
    all.release(1000);
    assertThat(budget.of(Caller.LOCAL).reserve(100)).isTrue();
  }
}
