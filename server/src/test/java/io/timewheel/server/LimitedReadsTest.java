// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.TimerKey;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.TimerRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LimitedReadsTest {
  private final AtomicInteger reading = new AtomicInteger();
  private final CountDownLatch goOn = new CountDownLatch(1);

  private final class SlowStore extends ForwardingTimerStore {
    SlowStore() {
      super(InMemoryTimerStore.create());
    }

    @Override
    public TimerRecord get(TimerKey key) {
      reading.incrementAndGet();
      try {
        goOn.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      return super.get(key);
    }
  }

  @Test
  void asManyAsMayReadAndTheOthersWait() throws Exception {
    LimitedReads store = new LimitedReads(new SlowStore(), 2);
    ExecutorService threads = Executors.newCachedThreadPool();
    List<Future<?>> reads = new ArrayList<>();
    try {
      for (int i = 0; i < 5; i++) {
        reads.add(threads.submit(() -> store.get(new TimerKey("shop", "a"))));
      }
      while (reading.get() < 2 || store.waiting() < 3) {
        Thread.onSpinWait();
      }
      assertThat(reading).hasValue(2);
      assertThat(store.traits()).as("what is no read waits for none").isNotNull();
      goOn.countDown();
      for (Future<?> read : reads) {
        read.get();
      }
      assertThat(reading).hasValue(5);
    } finally {
      goOn.countDown();
      threads.shutdownNow();
      store.close();
    }
  }
}
