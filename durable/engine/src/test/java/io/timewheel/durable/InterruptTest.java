// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.DurableTimerException.Reason;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.testkit.FaultyStore;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Verifies threads that are interrupted while they wait for the store. */
class InterruptTest {
  private InMemoryTimerStore data = InMemoryTimerStore.create();
  private FaultyStore store = new FaultyStore(data);
  private final CountDownLatch committing = new CountDownLatch(1);
  private final CountDownLatch gate = new CountDownLatch(1);
  private final AtomicReference<DurableTimerException> failure = new AtomicReference<>();
  private final AtomicBoolean interruptedStill = new AtomicBoolean();
  private DurableTimer scheduler =
      DurableTimer.builder(store).handler("h", firing -> {}).queueCapacity(1, false).start();

  private void holdCommits() {
    store.faults(
        changes -> {
          committing.countDown();
          Threads.await(gate);
          return FaultyStore.Fault.NONE;
        });
  }

  @AfterEach
  void close() {
    gate.countDown();
    scheduler.close();
  }

  private static TimerSpec spec(String id) {
    return TimerSpec.of("ns", id).handler("h").after(Duration.ofHours(1));
  }

  private void scheduleAndRecordFailure(String id) {
    try {
      scheduler.schedule(spec(id));
    } catch (DurableTimerException e) {
      failure.set(e);
      interruptedStill.set(Thread.currentThread().isInterrupted());
    }
  }

  @Test
  void aCallThatWaitsForItsAnswerIsUnknown() throws InterruptedException {
    holdCommits();
    Thread caller = Threads.startAndAwaitWaiting(() -> scheduleAndRecordFailure("a"));
    Threads.await(committing);
    caller.interrupt();
    caller.join();
    assertThat(failure.get().reason()).isEqualTo(Reason.UNKNOWN);
    assertThat(failure.get()).hasMessageContaining("interrupted");
    assertThat(interruptedStill).isTrue();
    gate.countDown();
    scheduler.close();
    assertThat(data.reopen().get(new TimerKey("ns", "a"))).isNotNull(); // in fact committed
  }

  @Test
  void aCallThatWaitsForRoomHasChangedNothing() throws InterruptedException {
    holdCommits();
    scheduler.async().schedule(spec("committing"));
    Threads.await(committing);
    scheduler.async().schedule(spec("waiting"));
    Thread caller = Threads.startAndAwaitWaiting(() -> scheduleAndRecordFailure("a"));
    caller.interrupt();
    caller.join();
    assertThat(failure.get().reason()).isEqualTo(Reason.BUSY);
    assertThat(failure.get()).hasMessageContaining("interrupted");
    assertThat(interruptedStill).isTrue();
    gate.countDown();
    scheduler.close();
    assertThat(data.reopen().get(new TimerKey("ns", "a"))).isNull();
    assertThat(data.reopen().get(new TimerKey("ns", "waiting"))).isNotNull();
  }

  @Test
  void aTimeoutEndsAHandlerThatWaitsForTheStore() {
    scheduler.close();
    data = data.reopen();
    store = new FaultyStore(data);
    CountDownLatch ended = new CountDownLatch(1);
    DurableTimer[] self = new DurableTimer[1];
    scheduler =
        DurableTimer.builder(store)
            .handler(
                "h",
                firing -> {
                  holdCommits();
                  try {
                    self[0].schedule(spec("successor"));
                  } finally {
                    ended.countDown();
                  }
                },
                1,
                Duration.ofMillis(50))
            .build();
    self[0] = scheduler;
    scheduler.schedule(
        TimerSpec.of("ns", "a")
            .handler("h")
            .after(Duration.ZERO)
            .retry(new RetryPolicy(1, Duration.ofSeconds(1), Duration.ofSeconds(1))));
    scheduler.start();
    Threads.await(ended); // although the store has not answered
    gate.countDown();
    scheduler.close();
    assertThat(data.reopen().get(new TimerKey("ns", "a")).state()).isEqualTo(TimerState.FAILED);
  }
}
