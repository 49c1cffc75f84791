// SPDX-License-Identifier: Apache-2.0
package io.timewheel.dropin;

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
import org.junit.jupiter.api.Test;

/**
 * The part of the contract that must hold under any load, with real threads and the machine's
 * clock.
 */
public abstract class DropInRealTimeContract<M, T, K> implements DropIn<M, T, K> {
  private static final long TICK_MILLIS = 20;

  @Test
  void noTimeoutIsEarlyOrLostOrRunsTwice() throws InterruptedException {
    int timeouts = 100_000;
    long delayMillis = 125;
    AtomicInteger early = new AtomicInteger();
    AtomicInteger runs = new AtomicInteger();
    CountDownLatch left = new CountDownLatch(timeouts);
    M timer = on(new HashedWheelTimer(TICK_MILLIS, MILLISECONDS));
    for (int i = 0; i < timeouts; i++) {
      long startNanos = System.nanoTime();
      start(
          timer,
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
    assertThat(stop(timer)).isEmpty(); // waits for the last task; no task follows
    assertThat(early).hasValue(0);
    assertThat(runs).hasValue(timeouts);
  }

  @Test
  void taskGoesRoundTheWheelMoreThanOnce() throws InterruptedException {
    CountDownLatch left = new CountDownLatch(4);
    M timer = on(new HashedWheelTimer(1, MILLISECONDS, 8));
    start(
        timer,
        timeout -> {
          left.countDown();
          if (left.getCount() > 0) {
            newTimeout(timerOf(timeout), taskOf(timeout), 20, MILLISECONDS);
          }
        },
        20,
        MILLISECONDS);

    left.await();
    assertThat(stop(timer)).isEmpty();
  }

  @Test
  void stopInsideATaskThrows() {
    M timer = on(HierarchicalWheelTimer.create());
    CompletableFuture<Throwable> thrown = new CompletableFuture<>();
    start(
        timer,
        timeout -> {
          try {
            thrown.complete(new AssertionError("returned " + stop(timerOf(timeout))));
          } catch (Throwable e) {
            thrown.complete(e);
          }
        },
        1,
        MILLISECONDS);

    assertThat(thrown.join()).isInstanceOf(IllegalStateException.class);
    stop(timer);
  }

  /** In 300 rounds of this test, Netty's own timer loses timeouts in about fifty. */
  @Test
  void timeoutStartedDuringStopIsRefusedOrReturned() throws InterruptedException {
    for (int round = 0; round < 100; round++) {
      M timer = on(HierarchicalWheelTimer.create());
      Queue<T> accepted = new ConcurrentLinkedQueue<>();
      CountDownLatch warm = new CountDownLatch(10);
      Thread starter =
          new Thread(
              () -> {
                try {
                  // Bounded, because a slow stop would otherwise fill the memory.
                  for (int i = 0; i < 100_000; i++) {
                    accepted.add(start(timer, timeout -> {}, 1, HOURS));
                    warm.countDown();
                  }
                } catch (IllegalStateException e) {
                  // The timer is stopped.
                }
              });
      starter.start();
      warm.await();
      Set<T> returned = stop(timer);
      starter.join();

      assertThat(returned.equals(new HashSet<>(accepted))).isTrue(); // AssertJ takes quadratic time
      assertThat(returned).allMatch(this::isCancelled);
    }
  }

  @Test
  void exactlyOneOfCancelAndExpiryWins() throws InterruptedException {
    int timeouts = 20_000;
    M timer = on(HierarchicalWheelTimer.create());
    Set<T> ran = ConcurrentHashMap.newKeySet();
    AtomicBoolean ranTwice = new AtomicBoolean();
    int cancelled = 0;
    CountDownLatch left = new CountDownLatch(timeouts);
    for (int i = 0; i < timeouts; i++) {
      T timeout =
          start(
              timer,
              t -> {
                ranTwice.compareAndSet(false, !ran.add(t));
                left.countDown();
              },
              i % 3,
              MILLISECONDS);
      if (i % 2 == 0 && cancel(timeout)) {
        cancelled++;
        left.countDown();
      }
    }

    left.await();
    stop(timer);
    assertThat(ran.size() + cancelled).isEqualTo(timeouts);
    assertThat(ranTwice).isFalse();
    assertThat(ran).allMatch(this::isExpired).noneMatch(this::isCancelled);
  }
}
