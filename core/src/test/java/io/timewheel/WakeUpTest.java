// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.testing.Await;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the protocol between threads that start timeouts and the timer thread. */
class WakeUpTest {
  private static final long AWAKE = ~Ticks.NEVER;

  private final Object engine = new Object();
  private final WakeUp wakeUp = new WakeUp(engine);

  @Test
  void runningThreadIsNotWoken() throws Exception {
    assertThat(plan()).isEqualTo(AWAKE);

    wakeUp.dueAt(0, engine);
    wakeUp.dueAt(Long.MIN_VALUE, engine);

    assertThat(plan()).isEqualTo(AWAKE);
  }

  @Test
  void onlyAnEarlierDeadlineWithdrawsThePlan() throws Exception {
    wakeUp.plan(100);

    wakeUp.dueAt(Ticks.NEVER, engine);
    wakeUp.dueAt(101, engine);
    wakeUp.dueAt(100, engine);
    assertThat(plan()).isEqualTo(100);

    wakeUp.dueAt(99, engine);
    assertThat(wakeUp.isWithdrawn()).isTrue();
  }

  @Test
  void withdrawingThePlanLeavesAHint() throws Exception {
    wakeUp.plan(100);
    wakeUp.dueAt(70, engine);
    wakeUp.dueAt(50, engine); // the timer thread has been woken already

    assertThat(wakeUp.awake()).isEqualTo(70);
    assertThat(plan()).isEqualTo(AWAKE);
    assertThat(wakeUp.awake()).as("a hint is given once").isEqualTo(Ticks.NEVER);
  }

  @Test
  void wakeUpWithoutADeadlineHasNoHint() {
    wakeUp.plan(100);
    wakeUp.wake();

    assertThat(wakeUp.awake()).isEqualTo(Ticks.NEVER);
  }

  /**
   * The engine stays reachable from the producer's last reference to it until the timer thread has
   * its own.
   */
  @Test
  void engineWhosePlanWasWithdrawnIsKept() {
    wakeUp.awake();
    wakeUp.plan(Ticks.NEVER);
    WeakReference<Object> withdrawn = withdraw();
    Await.collected(new WeakReference<>(new Object()));

    assertThat(withdrawn.get()).isNotNull();
    wakeUp.awake();
    Await.collected(withdrawn);
  }

  private WeakReference<Object> withdraw() {
    Object other = new Object();
    wakeUp.dueAt(5, other);
    return new WeakReference<>(other);
  }

  @Test
  void engineIsKeptUntilTheThreadHasBegun() {
    WakeUp[] waiting = new WakeUp[1];
    WeakReference<Object> kept = keep(waiting);
    Await.collected(new WeakReference<>(new Object()));

    assertThat(kept.get()).isNotNull();
    waiting[0].awake();
    Await.collected(kept);
  }

  private static WeakReference<Object> keep(WakeUp[] waiting) {
    Object other = new Object();
    waiting[0] = new WakeUp(other);
    return new WeakReference<>(other);
  }

  @Test
  void planToSleepForeverIsWithdrawnByAnyRealDeadline() throws Exception {
    wakeUp.plan(Ticks.NEVER);

    wakeUp.dueAt(Ticks.NEVER, engine);
    assertThat(plan()).isEqualTo(Ticks.NEVER);

    wakeUp.dueAt(Ticks.NEVER - 1, engine);
    assertThat(wakeUp.isWithdrawn()).isTrue();
  }

  @Test
  void earlierDeadlineWakesTheSleeper() {
    Sleeper sleeper = new Sleeper(100);

    wakeUp.dueAt(99, engine);

    Await.end(sleeper.thread);
  }

  @Test
  void wakeNeedsNoDeadline() {
    Sleeper sleeper = new Sleeper(Ticks.NEVER);

    wakeUp.wake();

    Await.end(sleeper.thread);
  }

  @Test
  void wakeWithoutASleeperHasNoEffect() throws Exception {
    wakeUp.wake();

    assertThat(plan()).isEqualTo(AWAKE);
  }

  /**
   * A wake-up between the plan and the parking leaves the permit of {@code unpark}, so it is not
   * lost.
   */
  @Test
  void deadlineThatComesBeforeTheParkingIsNotLost() {
    Concurrently.run(
        () -> {
          wakeUp.bind();
          wakeUp.plan(100);
          wakeUp.dueAt(99, engine);
          LockSupport.park();
        });
  }

  /** Two threads repeatedly announce earlier deadlines. A lost wake-up would make the test hang. */
  @Test
  @Tag("promise-27")
  void noWakeUpOfManyIsLost() {
    int rounds = 5_000;
    AtomicBoolean ended = new AtomicBoolean();
    Concurrently.run(
        () -> {
          wakeUp.bind();
          for (int round = 0; round < rounds; round++) {
            wakeUp.plan(100);
            while (plan() == 100) {
              LockSupport.park();
            }
          }
          ended.set(true);
        },
        () -> hurryUntil(ended),
        () -> hurryUntil(ended));
  }

  private void hurryUntil(AtomicBoolean ended) {
    while (!ended.get()) {
      wakeUp.dueAt(99, engine);
    }
  }

  private long plan() throws ReflectiveOperationException {
    VarHandle planTick =
        MethodHandles.privateLookupIn(WakeUp.class, MethodHandles.lookup())
            .findVarHandle(WakeUp.class, "planTick", long.class);
    return (long) planTick.getVolatile(wakeUp);
  }

  /**
   * A thread that plans and parks until its plan is withdrawn, or until it is woken without a
   * deadline.
   */
  private final class Sleeper {
    final Thread thread;

    Sleeper(long planTick) {
      CountDownLatch planned = new CountDownLatch(1);
      thread =
          new Thread(
              () -> {
                wakeUp.bind();
                wakeUp.plan(planTick);
                planned.countDown();
                LockSupport.park();
              });
      thread.setDaemon(true);
      thread.start();
      Await.zero(planned);
    }
  }
}
