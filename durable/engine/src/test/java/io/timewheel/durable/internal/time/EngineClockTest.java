// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import net.jqwik.api.Example;

class EngineClockTest {
  private long wallMillis = 100_000;
  private Runnable whenRead = () -> {};
  private final EngineClock clock = new EngineClock(this::read, () -> 0);

  private Instant read() {
    Instant now = Instant.ofEpochMilli(wallMillis);
    Runnable held = whenRead;
    whenRead = () -> {};
    held.run();
    return now;
  }

  @Example
  void stopsAfterASmallStepBackAndFollowsALargeOne() {
    assertThat(clock.nowMillis()).isEqualTo(100_000);
    wallMillis = 95_000;
    assertThat(clock.nowMillis()).isEqualTo(100_000);
    wallMillis = 94_999;
    assertThat(clock.nowMillis()).isEqualTo(94_999);
    assertThat(clock.jumpsBack.sum()).isEqualTo(1);
  }

  @Example
  void doesNotMistakeADelayedThreadForAStepBack() {
    clock.nowMillis();
    whenRead =
        () -> { // it is suspended after its reading; another thread reads the clock
          wallMillis += 60_000;
          clock.nowMillis();
        };
    clock.nowMillis();
    assertThat(clock.jumpsBack.sum()).isZero();
    assertThat(clock.nowMillis()).isEqualTo(160_000);
  }
}
