// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.maintenance.StoreCopy;
import io.timewheel.durable.spi.record.TimerDefinition;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class StoreCopyTest {
  private static TimerRecord timer(String id, long version, TimerState state, int payloadBytes) {
    TimerDefinition definition =
        new TimerDefinition(
            "",
            "orders",
            false,
            new byte[payloadBytes],
            Map.of(),
            RetryPolicy.DEFAULT,
            MissedRuns.FIRE_ONCE,
            0);
    return new TimerRecord(
        new TimerKey("shop", id),
        version,
        0,
        state,
        definition,
        7,
        TimerRecord.isIndexed(state) ? 7 : TimerRecord.NEVER,
        TimerRecord.NONE,
        0,
        0,
        null,
        null,
        false,
        false,
        1,
        2,
        null,
        null,
        List.of());
  }

  @Test
  void writesABatchWhenItHasFourMegabytes() {
    InMemoryTimerStore from = InMemoryTimerStore.create();
    for (int i = 0; i < 200; i++) {
      from.importTimers(
          List.of(
              new CopiedTimer(timer("t%03d".formatted(i), i, TimerState.SCHEDULED, 65_536), null)));
    }
    InMemoryTimerStore to = InMemoryTimerStore.create();
    List<Long> progress = new ArrayList<>();

    assertThat(StoreCopy.copy(from, to, progress::add)).isEqualTo(200);

    assertThat(progress).containsExactly(64L, 128L, 192L, 200L);
    assertThat(to.counts()).isEqualTo(from.counts());
  }
}
