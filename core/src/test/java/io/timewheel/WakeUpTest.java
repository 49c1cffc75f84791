// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** The protocol between those who start timeouts and the thread that waits for them. */
class WakeUpTest {
  private final WakeUp wakeUp = new WakeUp();

  @Test
  void workerThatIsUpIsNotWoken() throws Exception {
    assertThat(plan()).isEqualTo(WakeUp.AWAKE);

    wakeUp.dueAt(0);
    wakeUp.dueAt(Long.MIN_VALUE);

    assertThat(plan()).isEqualTo(WakeUp.AWAKE);
  }

  @Test
  void onlyAnEarlierDeadlineWithdrawsThePlan() throws Exception {
    wakeUp.plan(100);

    wakeUp.dueAt(Ticks.NEVER);
    wakeUp.dueAt(101);
    wakeUp.dueAt(100);
    assertThat(plan()).isEqualTo(100);

    wakeUp.dueAt(99);
    assertThat(plan()).isEqualTo(WakeUp.AWAKE);
  }

  @Test
  void planToSleepForEverIsWithdrawnByAnyDeadlineButNever() throws Exception {
    wakeUp.plan(Ticks.NEVER);

    wakeUp.dueAt(Ticks.NEVER);
    assertThat(plan()).isEqualTo(Ticks.NEVER);

    wakeUp.dueAt(Ticks.NEVER - 1);
    assertThat(plan()).isEqualTo(WakeUp.AWAKE);
  }

  @Test
  void earlierDeadlineWakesTheSleeper() {
    Sleeper sleeper = new Sleeper(100);

    wakeUp.dueAt(99);

    Await.end(sleeper.thread);
  }

  @Test
  void wakeNeedsNoDeadline() {
    Sleeper sleeper = new Sleeper(Ticks.NEVER);

    wakeUp.wake();

    Await.end(sleeper.thread);
  }

  @Test
  void wakeBeforeThereIsASleeperDoesNoHarm() throws Exception {
    wakeUp.wake();

    assertThat(plan()).isEqualTo(WakeUp.AWAKE);
  }

  /** The permit of unpark: what comes between the plan and the parking is not lost. */
  @Test
  void deadlineThatComesBeforeTheParkingIsNotLost() {
    Concurrently.run(
        () -> {
          wakeUp.bind();
          wakeUp.plan(100);
          wakeUp.dueAt(99);
          LockSupport.park();
        });
  }

  /** Two come with earlier deadlines again and again: no round is one that nobody ends. */
  @Test
  void noRoundOfManyIsLost() {
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
      wakeUp.dueAt(99);
    }
  }

  private long plan() throws ReflectiveOperationException {
    VarHandle planTick =
        MethodHandles.privateLookupIn(WakeUp.class, MethodHandles.lookup())
            .findVarHandle(WakeUp.class, "planTick", long.class);
    return (long) planTick.getVolatile(wakeUp);
  }

  /** A thread that plans and parks until its plan is withdrawn, or it is woken for no deadline. */
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
