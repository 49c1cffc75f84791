// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerRecord;
import io.timewheel.testing.Await;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests whether the store counts as available, on a clock that the test moves. */
class StoreProbeTest {
  private final AtomicLong nanos = new AtomicLong();
  private final StoreReads reads = new StoreReads();
  private final StoreProbe probe = new StoreProbe(reads, nanos::get);

  private static final class FailingStore extends ForwardingTimerStore {
    private volatile boolean failing;
    private volatile boolean full;
    private final AtomicInteger writes = new AtomicInteger();

    FailingStore() {
      super(InMemoryTimerStore.create());
    }

    @Override
    public @Nullable TimerRecord get(TimerKey key) {
      if (failing) {
        throw new StoreException(StoreException.Kind.UNAVAILABLE, "gone", null);
      }
      return super.get(key);
    }

    @Override
    public List<Outcome> commit(List<Change> changes) {
      writes.incrementAndGet();
      if (full) {
        throw new StoreException(StoreException.Kind.UNAVAILABLE, "the disk is full", null);
      }
      return super.commit(changes);
    }
  }

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }

  @Test
  void anAbsentStoreDoesNotAnswer() {
    probe.read();
    assertThat(probe.isAnswering()).isFalse();
  }

  @Test
  void aStoreAnswersUntilNoReadHasSucceededForTheLimit() {
    FailingStore store = new FailingStore();
    try (DurableTimer scheduler = DurableTimer.builder(store).start()) {
      reads.serve(scheduler, 1);
      probe.read();
      assertThat(probe.isAnswering()).isTrue();
      store.failing = true;
      pass(StoreProbe.LIMIT.minusNanos(1));
      probe.read();
      assertThat(probe.isAnswering()).as("one failed read").isTrue();
      pass(Duration.ofNanos(1));
      assertThat(probe.isAnswering()).as("no read has succeeded, nor does one return").isFalse();
      store.failing = false;
      probe.read();
      assertThat(probe.isAnswering()).isTrue();
    }
  }

  @Test
  void aStoreThatCannotBeWrittenIsUnavailableUntilAWriteSucceeds() {
    FailingStore store = new FailingStore();
    try (DurableTimer scheduler = DurableTimer.builder(store).start()) {
      reads.serve(scheduler, 1);
      store.full = true;
      TimerSpec spec = TimerSpec.of("shop", "a").after(Duration.ofHours(1)).queue("q");
      assertThatThrownBy(() -> scheduler.schedule(spec)).isInstanceOf(DurableTimerException.class);
      for (int i = 0; i < 3; i++) {
        int before = store.writes.get();
        Await.until(
            () -> {
              probe.read();
              return store.writes.get() > before;
            });
        assertThat(probe.isAvailable()).isFalse();
      }
      store.full = false;
      Await.until(
          () -> {
            probe.read();
            return probe.isAvailable();
          });
      assertThat(scheduler.timer("shop", "a").get()).isEmpty();
    }
  }
}
