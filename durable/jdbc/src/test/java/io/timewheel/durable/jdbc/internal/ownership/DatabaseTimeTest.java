// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.ownership;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("promise-55")
class DatabaseTimeTest {
  private static final long MILLI = 1_000_000;
  private static final long SECOND = 1_000 * MILLI;

  private final DatabaseTime quick = DatabaseTime.of(50_000, 10 * MILLI, 12 * MILLI);

  @Test
  void assumesTheMiddleOfTheRoundTrip() {
    assertThat(quick.millisAt(11 * MILLI)).isEqualTo(50_000);
    assertThat(quick.millisAt(11 * MILLI + 3 * SECOND)).isEqualTo(53_000);
  }

  @Test
  void keepsAQuickAnswerRatherThanASlowOne() {
    DatabaseTime heldUp = DatabaseTime.of(53_000, 3 * SECOND, 11 * SECOND);
    assertThat(quick.orBetter(heldUp)).isSameAs(quick);
    assertThat(heldUp.orBetter(DatabaseTime.of(61_000, 11 * SECOND, 11 * SECOND + MILLI)))
        .extracting(DatabaseTime::databaseMillis)
        .isEqualTo(61_000L);
  }

  @Test
  void reducesTheAccuracyOfAnOldAnswerAsClocksDrift() {
    DatabaseTime slower = DatabaseTime.of(3_650_000, 3_600 * SECOND, 3_600 * SECOND + 20 * MILLI);
    assertThat(quick.orBetter(slower)).isSameAs(slower);
  }

  /** The database has failed over, or this machine was suspended. */
  @Test
  void acceptsASlowAnswerThatContradictsTheLast() {
    DatabaseTime set = DatabaseTime.of(90_000, 3 * SECOND, 5 * SECOND);
    assertThat(quick.orBetter(set)).isSameAs(set);
  }
}
