// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerRecord;
import java.time.Duration;
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
    try (DurableTimer timer = DurableTimer.builder(store).start()) {
      reads.serve(timer, 1);
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
}
