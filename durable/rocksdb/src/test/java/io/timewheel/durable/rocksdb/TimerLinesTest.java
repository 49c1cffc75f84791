// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.CopiedTimer;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.TimerSink;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.TimerDefinition;
import io.timewheel.durable.spi.record.TimerRecord;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class TimerLinesTest {
  private static final String HASH = "0123456789abcdef".repeat(4);

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

  /** A store that has one finished timer, whose payload it does not have. */
  private static TimerStore withHash(InMemoryTimerStore below) {
    return new ForwardingTimerStore(below) {
      @Override
      public void copyTo(TimerSink sink) {
        sink.begin(9, Set.of());
        sink.take(new CopiedTimer(timer("done", 9, TimerState.COMPLETED, 0), HASH));
        sink.end();
      }
    };
  }

  @Test
  void aLineHasTheHashOfAPayloadThatTheStoreDoesNotHave() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    assertThat(TimerLines.exportTo(withHash(InMemoryTimerStore.create()), out)).isEqualTo(1);
    List<CopiedTimer> taken = new ArrayList<>();
    TimerStore to =
        new ForwardingTimerStore(InMemoryTimerStore.create()) {
          @Override
          public int importTimers(List<CopiedTimer> timers) {
            taken.addAll(timers);
            return super.importTimers(timers);
          }
        };

    assertThat(TimerLines.importFrom(new ByteArrayInputStream(out.toByteArray()), to)).isEqualTo(1);

    assertThat(taken)
        .containsExactly(new CopiedTimer(timer("done", 9, TimerState.COMPLETED, 0), HASH));
  }

  /** Its message would blame the file for a failure of the store. */
  @Test
  void aFailureOfTheTargetNamesNoLine() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    TimerLines.exportTo(withHash(InMemoryTimerStore.create()), out);
    TimerStore to =
        new ForwardingTimerStore(InMemoryTimerStore.create()) {
          @Override
          public int importTimers(List<CopiedTimer> timers) {
            throw new IllegalArgumentException("a limit of the store");
          }
        };

    assertThatThrownBy(() -> TimerLines.importFrom(new ByteArrayInputStream(out.toByteArray()), to))
        .hasMessage("a limit of the store");
  }
}
