// SPDX-License-Identifier: Apache-2.0
package io.timewheel.netty;

import static java.util.concurrent.TimeUnit.DAYS;
import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import io.netty.util.Timer;
import io.netty.util.TimerTask;
import io.timewheel.HierarchicalWheelTimer;
import io.timewheel.testkit.ManualTimer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Verifies the statements of docs/migrate/memory.md about Netty's own timer and its replacement.
 */
class NettyFactsTest {
  private final CountDownLatch begun = new CountDownLatch(1);
  private final CountDownLatch mayEnd = new CountDownLatch(1);
  private final AtomicInteger interrupts = new AtomicInteger();

  /**
   * Returns a task that blocks until it may end, or until it has been interrupted the given number
   * of times.
   */
  private TimerTask blockUntilInterrupted(int times) {
    return timeout -> {
      begun.countDown();
      while (interrupts.get() < times) {
        try {
          mayEnd.await();
          return;
        } catch (InterruptedException e) {
          interrupts.incrementAndGet();
        }
      }
    };
  }

  @Test
  void nettysStopInterruptsABlockedTaskRepeatedly() throws InterruptedException {
    HashedWheelTimer timer = new HashedWheelTimer();
    timer.newTimeout(blockUntilInterrupted(3), 0, MILLISECONDS);
    begun.await();

    timer.stop(); // returns when the task has ended

    assertThat(interrupts).hasValue(3);
  }

  @Test
  void nettysStopByAnInterruptedThreadStillWaits() throws InterruptedException {
    HashedWheelTimer timer = new HashedWheelTimer();
    timer.newTimeout(blockUntilInterrupted(3), 0, MILLISECONDS);
    begun.await();

    Thread.currentThread().interrupt();
    timer.stop();

    assertThat(Thread.interrupted()).isTrue();
    assertThat(interrupts).hasValue(3);
  }

  @Test
  void ourStopByAnInterruptedThreadNeitherWaitsNorInterrupts() throws InterruptedException {
    CountDownLatch ended = new CountDownLatch(1);
    TimerTask block = blockUntilInterrupted(1);
    Timer timer = new NettyTimer(HierarchicalWheelTimer.create());
    timer.newTimeout(
        timeout -> {
          block.run(timeout);
          ended.countDown();
        },
        0,
        MILLISECONDS);
    begun.await();

    Thread.currentThread().interrupt();
    timer.stop();

    assertThat(Thread.interrupted()).isTrue();
    assertThat(ended.getCount()).isEqualTo(1);
    mayEnd.countDown();
    ended.await();
    assertThat(interrupts).hasValue(0);
  }

  @Test
  void nettyKeepsTheOrderOfStartAcrossThreads() throws Exception {
    HashedWheelTimer timer = new HashedWheelTimer(1, MILLISECONDS);
    timer.newTimeout(blockUntilInterrupted(1), 0, MILLISECONDS);
    begun.await();
    List<Integer> order = Collections.synchronizedList(new ArrayList<>());
    CountDownLatch left = new CountDownLatch(100);
    ExecutorService one = Executors.newSingleThreadExecutor();
    ExecutorService other = Executors.newSingleThreadExecutor();
    for (int i = 0; i < 100; i++) {
      int number = i;
      TimerTask task =
          timeout -> {
            order.add(number);
            left.countDown();
          };
      (i % 2 == 0 ? one : other).submit(() -> timer.newTimeout(task, 0, MILLISECONDS)).get();
    }

    mayEnd.countDown();
    left.await();

    assertThat(order).isEqualTo(IntStream.range(0, 100).boxed().toList());
    timer.stop();
    one.shutdown();
    other.shutdown();
  }

  /** With Netty's default tick, and with that of a hierarchical wheel. */
  @Test
  void aTaskThatRestartsItselfWithDelayZeroRunsOnceATick() {
    assertThat(runsInOneSecond(Duration.ofMillis(100))).isEqualTo(10);
    assertThat(runsInOneSecond(Duration.ofMillis(1))).isEqualTo(1_000);
  }

  private static int runsInOneSecond(Duration tick) {
    ManualTimer clock = ManualTimer.create(settings -> settings.tick(tick));
    AtomicInteger runs = new AtomicInteger();
    new NettyTimer(clock)
        .newTimeout(
            new TimerTask() {
              @Override
              public void run(Timeout timeout) {
                runs.incrementAndGet();
                timeout.timer().newTimeout(this, 0, MILLISECONDS);
              }
            },
            0,
            MILLISECONDS);
    clock.advanceBy(Duration.ofSeconds(1));
    return runs.get();
  }

  @Test
  void limitsOfTicksAndSlots() {
    assertThatCode(() -> new HashedWheelTimer(1, DAYS, 512).stop()).doesNotThrowAnyException();
    assertThatCode(() -> new HashedWheelTimer(25, HOURS, 512).stop()).doesNotThrowAnyException();
    assertThatCode(() -> new HashedWheelTimer(1, MILLISECONDS, (1 << 20) + 1).stop())
        .doesNotThrowAnyException();
    long tooLongDays = NANOSECONDS.toDays(Long.MAX_VALUE / 512) + 1;
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new HashedWheelTimer(tooLongDays, DAYS, 512));

    assertThatCode(() -> ours(1, 1 << 20)).doesNotThrowAnyException();
    assertThatCode(() -> ours(DAYS.toNanos(1), 1)).doesNotThrowAnyException();
    assertThatIllegalArgumentException().isThrownBy(() -> ours(DAYS.toNanos(1) + 1, 1));
    assertThatIllegalArgumentException().isThrownBy(() -> ours(1, (1 << 20) + 1));
  }

  private static void ours(long tickNanos, int slots) {
    new io.timewheel.HashedWheelTimer(tickNanos, NANOSECONDS, slots).stop();
  }
}
