// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.record.DueTimer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class InFlightLimitTest {
  private static final int TIMERS = 100_000;

  private final LoneShard lone = new LoneShard();
  private final Window window = new Window(lone.context, lone.shard, 16, 16);
  private boolean leavesAtOnce;
  private int handled;
  private final InFlightLimit gate = new InFlightLimit(this::handle);

  private void handle(DueEntry entry) {
    handled++;
    if (leavesAtOnce) {
      gate.leave();
    }
  }

  @AfterEach
  void stop() {
    lone.stop();
  }

  /** As in a closing engine, each entry leaves as soon as it is handled. */
  @Test
  void admitsEntriesThatLeaveAtOnceInALoop() {
    for (int i = 0; i < TIMERS; i++) {
      DueTimer due =
          new DueTimer(
              new TimerKey("ns", "t" + i), 0, 1, 0, TimerState.SCHEDULED, "q", true, false, false);
      gate.enter(new DueEntry(window, lone.shard, due, ""));
    }
    assertThat(handled).isLessThan(TIMERS);
    leavesAtOnce = true;
    gate.leave();
    assertThat(handled).isEqualTo(TIMERS);
  }
}
