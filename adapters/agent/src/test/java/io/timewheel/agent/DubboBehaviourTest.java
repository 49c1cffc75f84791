// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.timewheel.testing.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.dubbo.common.timer.HashedWheelTimer;
import org.apache.dubbo.common.timer.Timeout;
import org.apache.dubbo.common.timer.TimerTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests the behaviour of Dubbo's timer that Dubbo relies on. The build runs this class without and
 * with the agent.
 */
@Tag("behaviour")
class DubboBehaviourTest {
  private static final TimerTask NOTHING = timeout -> {};
  private static final ThreadFactory DAEMONS =
      task -> {
        Thread thread = new Thread(task, "timer under test");
        thread.setDaemon(true);
        return thread;
      };
  private final HashedWheelTimer timer = new HashedWheelTimer(DAEMONS, 10, MILLISECONDS, 8);

  @AfterEach
  void stop() {
    timer.stop();
  }

  private static void awaitPending(HashedWheelTimer timer, long pending) {
    Await.until(() -> timer.pendingTimeouts() == pending);
  }

  private void passTime(long millis) throws InterruptedException {
    CountDownLatch passed = new CountDownLatch(1);
    timer.newTimeout(timeout -> passed.countDown(), millis, MILLISECONDS);
    passed.await();
  }

  @Test
  void agentIsInPlaceIfTheBuildWantsIt() {
    assertThat(timer.toString().contains("[Timewheel, tick "))
        .isEqualTo(Boolean.getBoolean("timewheel.agent.expected"));
  }

  @Test
  void noTimeoutIsEarlyOrLostOrRunsTwice() throws InterruptedException {
    int timeouts = 20_000;
    AtomicInteger early = new AtomicInteger();
    AtomicInteger runs = new AtomicInteger();
    CountDownLatch left = new CountDownLatch(timeouts);
    for (int i = 0; i < timeouts; i++) {
      long startNanos = System.nanoTime();
      timer.newTimeout(
          timeout -> {
            if (System.nanoTime() - startNanos < MILLISECONDS.toNanos(125)) {
              early.incrementAndGet();
            }
            runs.incrementAndGet();
            left.countDown();
          },
          125,
          MILLISECONDS);
    }

    left.await();
    assertThat(timer.stop()).isEmpty();
    assertThat(early).hasValue(0);
    assertThat(runs).hasValue(timeouts);
    assertThat(timer.pendingTimeouts()).isZero();
  }

  @Test
  void taskRestartsItself() throws InterruptedException {
    CountDownLatch left = new CountDownLatch(4);
    timer.newTimeout(
        new TimerTask() {
          @Override
          public void run(Timeout timeout) {
            left.countDown();
            if (left.getCount() > 0) {
              timeout.timer().newTimeout(timeout.task(), 90, MILLISECONDS);
            }
          }
        },
        90,
        MILLISECONDS);

    left.await();
  }

  @Test
  void taskThatThrowsEndsNothing() throws InterruptedException {
    Timeout thrown =
        timer.newTimeout(
            timeout -> {
              throw new IllegalStateException("on purpose");
            },
            1,
            MILLISECONDS);

    passTime(100);

    assertThat(thrown.isExpired()).isTrue();
    assertThat(thrown.cancel()).isFalse();
    assertThat(thrown.isCancelled()).isFalse();
  }

  @Test
  void cancelledTimeoutNeverRunsAndIsCancelledOnce() throws InterruptedException {
    Timeout timeout = timer.newTimeout(NOTHING, 500, MILLISECONDS);

    assertThat(timeout.cancel()).isTrue();
    assertThat(timeout.cancel()).isFalse();
    passTime(600);

    assertThat(timeout.isCancelled()).isTrue();
    assertThat(timeout.isExpired()).isFalse();
  }

  @Test
  void exactlyOneOfCancelAndExpiryWins() {
    int timeouts = 20_000;
    AtomicInteger ran = new AtomicInteger();
    int cancelled = 0;
    for (int i = 0; i < timeouts; i++) {
      Timeout timeout = timer.newTimeout(t -> ran.incrementAndGet(), i % 20, MILLISECONDS);
      if (i % 2 == 0 && timeout.cancel()) {
        cancelled++;
      }
    }

    awaitPending(timer, 0);
    timer.stop();
    assertThat(ran.get() + cancelled).isEqualTo(timeouts);
  }

  @Test
  void limitRefusesAndACancelMakesRoom() {
    HashedWheelTimer timer = new HashedWheelTimer(DAEMONS, 10, MILLISECONDS, 8, 2);
    Timeout first = timer.newTimeout(NOTHING, 1, HOURS);
    timer.newTimeout(NOTHING, 1, HOURS);

    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> timer.newTimeout(NOTHING, 1, HOURS));

    first.cancel();
    awaitPending(timer, 1);
    timer.newTimeout(NOTHING, 1, HOURS);
    assertThat(timer.stop()).hasSize(2);
  }

  @Test
  void stopReturnsThePendingTimeouts() {
    List<Timeout> started = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      started.add(timer.newTimeout(NOTHING, 1 + i, HOURS));
    }
    assertThat(timer.isStop()).isFalse();

    Set<Timeout> left = timer.stop();

    assertThat(left).containsExactlyInAnyOrderElementsOf(started);
    assertThat(timer.isStop()).isTrue();
    assertThatIllegalStateException().isThrownBy(() -> timer.newTimeout(NOTHING, 1, HOURS));
  }

  @Test
  void stopInterruptsTheTaskThatRuns() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
    timer.newTimeout(
        timeout -> {
          begun.countDown();
          try {
            new CountDownLatch(1).await();
          } catch (InterruptedException e) {
            interrupted.complete(true);
          }
        },
        1,
        MILLISECONDS);
    begun.await();

    timer.stop();

    assertThat(interrupted).isCompletedWithValue(true);
  }

  @Test
  void refusesInvalidArguments() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new HashedWheelTimer(DAEMONS, 0, MILLISECONDS))
        .withMessageStartingWith("tickDuration must be greater than 0: 0");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new HashedWheelTimer(DAEMONS, 1, MILLISECONDS, 0));
  }
}
