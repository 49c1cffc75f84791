// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

class EpochMillisTest {
  private static final BigInteger MIN = BigInteger.valueOf(Long.MIN_VALUE);
  private static final BigInteger MAX = BigInteger.valueOf(Long.MAX_VALUE);

  @Example
  void roundsSchedulesUpAndTheCurrentTimeDown() {
    Instant instant = Instant.ofEpochSecond(1, 1_000_001);
    assertThat(EpochMillis.ceil(instant)).isEqualTo(1_002);
    assertThat(EpochMillis.floor(instant)).isEqualTo(1_001);
    assertThat(EpochMillis.ceil(Instant.ofEpochSecond(-1, 1))).isEqualTo(-999);
    assertThat(EpochMillis.floor(Instant.ofEpochSecond(-1, 1))).isEqualTo(-1_000);
    assertThat(EpochMillis.ceil(Duration.ofNanos(1))).isEqualTo(1);
    assertThat(EpochMillis.ceil(Duration.ofMillis(7))).isEqualTo(7);
  }

  @Example
  void saturatesAtBothEnds() {
    assertThat(EpochMillis.ceil(Instant.MAX)).isEqualTo(EpochMillis.NEVER);
    assertThat(EpochMillis.floor(Instant.MAX)).isEqualTo(Long.MAX_VALUE);
    assertThat(EpochMillis.ceil(Instant.MIN)).isEqualTo(Long.MIN_VALUE);
    assertThat(EpochMillis.floor(Instant.MIN)).isEqualTo(Long.MIN_VALUE);
    assertThat(EpochMillis.ceil(Duration.ofSeconds(Long.MAX_VALUE))).isEqualTo(Long.MAX_VALUE);
    Instant last = EpochMillis.toInstant(Long.MAX_VALUE);
    assertThat(EpochMillis.floor(last)).isEqualTo(Long.MAX_VALUE);
    assertThat(EpochMillis.ceil(last.plusNanos(1))).isEqualTo(Long.MAX_VALUE);
    Instant first = EpochMillis.toInstant(Long.MIN_VALUE);
    assertThat(EpochMillis.ceil(first.minusSeconds(1))).isEqualTo(Long.MIN_VALUE);
  }

  @Property
  void addsAndSubtractsAsNumbersWithoutEnd(@ForAll long a, @ForAll long b) {
    BigInteger x = BigInteger.valueOf(a);
    BigInteger y = BigInteger.valueOf(b);
    assertThat(EpochMillis.saturatedAdd(a, b)).isEqualTo(x.add(y).max(MIN).min(MAX).longValue());
    assertThat(EpochMillis.saturatedSubtract(a, b))
        .isEqualTo(x.subtract(y).max(MIN).min(MAX).longValue());
  }
}
