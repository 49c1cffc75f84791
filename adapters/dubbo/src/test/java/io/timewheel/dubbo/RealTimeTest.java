// SPDX-License-Identifier: Apache-2.0
package io.timewheel.dubbo;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.HashedWheelTimer;
import io.timewheel.HierarchicalWheelTimer;
import java.util.HashSet;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.dubbo.common.timer.Timeout;
import org.apache.dubbo.common.timer.Timer;
import org.junit.jupiter.api.Test;

/** On the machine's clock, and threads: what no load can break. */
class RealTimeTest {
  private static final long TICK_MILLIS = 20;

  @Test
  void noTimeoutIsEarlyOrLostOrRunsTwice() throws InterruptedException {
    int timeouts = 100_000;
    long delayMillis = 125;
    AtomicInteger early = new AtomicInteger();
    AtomicInteger runs = new AtomicInteger();
    CountDownLatch left = new CountDownLatch(timeouts);
    Timer timer = new DubboTimer(new HashedWheelTimer(TICK_MILLIS, MILLISECONDS));
    for (int i = 0; i < timeouts; i++) {
      long startNanos = System.nanoTime();
      timer.newTimeout(
          timeout -> {
            if (System.nanoTime() - startNanos < MILLISECONDS.toNanos(delayMillis)) {
              early.incrementAndGet();
            }
            runs.incrementAndGet();
            left.countDown();
          },
          delayMillis,
          MILLISECONDS);
    }

    left.await();
    assertThat(timer.stop()).isEmpty(); // waits for the last task, and there is no further one
    assertThat(early).hasValue(0);
    assertThat(runs).hasValue(timeouts);
  }

  @Test
  void taskGoesRoundTheWheelMoreThanOnce() throws InterruptedException {
    CountDownLatch left = new CountDownLatch(4);
    Timer timer = new DubboTimer(new HashedWheelTimer(1, MILLISECONDS, 8));
    timer.newTimeout(
        new org.apache.dubbo.common.timer.TimerTask() {
          @Override
          public void run(Timeout timeout) {
            left.countDown();
            if (left.getCount() > 0) {
              timeout.timer().newTimeout(this, 20, MILLISECONDS);
            }
          }
        },
        20,
        MILLISECONDS);

    left.await();
    assertThat(timer.stop()).isEmpty();
  }

  @Test
  void stopInsideATaskThrows() {
    Timer timer = new DubboTimer(HierarchicalWheelTimer.create());
    CompletableFuture<Throwable> thrown = new CompletableFuture<>();
    timer.newTimeout(
        timeout -> {
          try {
            thrown.complete(new AssertionError("returned " + timeout.timer().stop()));
          } catch (Throwable e) {
            thrown.complete(e);
          }
        },
        1,
        MILLISECONDS);

    assertThat(thrown.join()).isInstanceOf(IllegalStateException.class);
    timer.stop();
  }

  @Test
  void timeoutStartedDuringStopIsRefusedOrReturned() throws InterruptedException {
    for (int round = 0; round < 100; round++) {
      Timer timer = new DubboTimer(HierarchicalWheelTimer.create());
      Queue<Timeout> accepted = new ConcurrentLinkedQueue<>();
      CountDownLatch warm = new CountDownLatch(10);
      Thread starter =
          new Thread(
              () -> {
                try {
                  for (int i = 0; i < 100_000; i++) { // or else a slow stop takes all memory
                    accepted.add(timer.newTimeout(timeout -> {}, 1, HOURS));
                    warm.countDown();
                  }
                } catch (IllegalStateException e) {
                  // The timer is stopped: the end.
                }
              });
      starter.start();
      warm.await();
      Set<Timeout> returned = timer.stop();
      starter.join();

      assertThat(returned.equals(new HashSet<>(accepted))).isTrue(); // AssertJ takes quadratic time
      assertThat(returned).allMatch(Timeout::isCancelled);
    }
  }

  @Test
  void exactlyOneOfCancelAndExpiryWins() throws InterruptedException {
    int timeouts = 20_000;
    Timer timer = new DubboTimer(HierarchicalWheelTimer.create());
    Set<Timeout> ran = ConcurrentHashMap.newKeySet();
    AtomicBoolean ranTwice = new AtomicBoolean();
    int cancelled = 0;
    CountDownLatch left = new CountDownLatch(timeouts);
    for (int i = 0; i < timeouts; i++) {
      Timeout timeout =
          timer.newTimeout(
              t -> {
                ranTwice.compareAndSet(false, !ran.add(t));
                left.countDown();
              },
              i % 3,
              MILLISECONDS);
      if (i % 2 == 0 && timeout.cancel()) {
        cancelled++;
        left.countDown();
      }
    }

    left.await();
    timer.stop();
    assertThat(ran.size() + cancelled).isEqualTo(timeouts);
    assertThat(ranTwice).isFalse();
    assertThat(ran).allMatch(Timeout::isExpired).noneMatch(Timeout::isCancelled);
  }
}
