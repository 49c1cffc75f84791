// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.RetryPolicy;
import io.timewheel.durable.TimerKey;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.TimerState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** A durable timer as it is by default: with threads, on the clock of the machine. */
class ThreadsTest {

  @Test
  void firesWhatManyThreadsSchedule() throws InterruptedException {
    int threads = 4;
    int each = 2_000;
    Set<String> fired = ConcurrentHashMap.newKeySet();
    CountDownLatch all = new CountDownLatch(threads * each);
    InMemoryTimerStore store = InMemoryTimerStore.create();
    DurableTimer timer =
        DurableTimer.builder(store)
            .handler(
                "h",
                firing -> {
                  if (fired.add(firing.id())) {
                    all.countDown();
                  }
                })
            .maxWindow(500)
            .start();
    List<Thread> callers = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      String prefix = "t" + i + "-";
      Thread caller =
          new Thread(
              () -> {
                for (int n = 0; n < each; n++) {
                  timer.scheduleAsync(
                      TimerSpec.of("ns", prefix + n).handler("h").after(Duration.ofMillis(n % 50)));
                }
              });
      caller.start();
      callers.add(caller);
    }
    for (Thread caller : callers) {
      caller.join();
    }
    all.await();
    timer.close();
    assertThat(timer.stats().fired()).isEqualTo(threads * (long) each);
    assertThat(store.reopen().counts().get("ns")).containsOnlyKeys(TimerState.DONE);
  }

  @Test
  void interruptsAHandlerAtItsTimeLimit() throws InterruptedException {
    CountDownLatch interrupted = new CountDownLatch(1);
    InMemoryTimerStore store = InMemoryTimerStore.create();
    DurableTimer timer =
        DurableTimer.builder(store)
            .handler(
                "stuck",
                firing -> {
                  try {
                    new CountDownLatch(1).await();
                  } finally {
                    interrupted.countDown();
                  }
                },
                1,
                Duration.ofMillis(20))
            .start();
    timer.schedule(
        TimerSpec.of("ns", "a")
            .handler("stuck")
            .after(Duration.ZERO)
            .retry(new RetryPolicy(1, Duration.ofSeconds(1), Duration.ofSeconds(1))));
    interrupted.await();
    TimerKey key = new TimerKey("ns", "a");
    while (store.get(key).attempts().isEmpty()) {
      Thread.onSpinWait(); // its end is recorded after it
    }
    timer.close();
    assertThat(store.reopen().get(key).attempts().get(0).error())
        .contains("exceeded its time limit of PT0.02S");
  }
}
