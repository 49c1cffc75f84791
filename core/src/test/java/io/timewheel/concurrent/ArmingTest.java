// SPDX-License-Identifier: Apache-2.0
package io.timewheel.concurrent;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.timewheel.PolledTimer;
import io.timewheel.TimeSource;
import io.timewheel.Timeout;
import io.timewheel.Timer;
import io.timewheel.TimerListener;
import io.timewheel.TimerStats;
import io.timewheel.TimerTask;
import io.timewheel.testing.Await;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests a periodic task whose wait ends at the moment when its timeout is re-armed or moved. When
 * the call that ends the wait returns, the task must not be in the timer. The clock and the
 * listener run an action of the test at these moments.
 */
class ArmingTest {
  /** The call that ends the wait. */
  private enum End {
    CANCEL,
    SHUTDOWN,
    SHUTDOWN_NOW
  }

  private long nowNanos;
  private Runnable onNextReading = () -> {};
  private Runnable onNextStart = () -> {};
  private boolean timerIsLost;

  private final PolledTimer timer =
      PolledTimer.builder().timeSource(this::read).listener(new Listener()).build();
  private final WheelScheduledExecutor executor =
      WheelScheduledExecutor.builder().timer(new Losable()).executor(Runnable::run).build();
  private Runnable work = () -> {};
  private final ScheduledFuture<?> task =
      executor.scheduleAtFixedRate(() -> work.run(), 1, 1, MILLISECONDS);

  @ParameterizedTest
  @EnumSource
  @Tag("promise-33")
  void leavesTheTimerDuringReArming(End end) {
    AtomicLong pending = new AtomicLong(-1);
    Thread ending =
        new Thread(
            () -> {
              end(end);
              pending.set(timer.pendingTimeouts());
            });
    onNextStart = () -> startAndAwaitBlockedOrTerminated(ending);

    passATick();
    Await.end(ending);

    assertThat(pending).hasValue(0);
    assertThatNothingIsLeft();
  }

  @Test
  @SuppressWarnings("FutureReturnValueIgnored") // there is none
  @Tag("promise-35")
  void failsWithALostTimerDuringReArming() {
    Thread another =
        new Thread(
            () ->
                assertThatExceptionOfType(RejectedExecutionException.class)
                    .isThrownBy(() -> executor.schedule(work, 1, HOURS)));
    onNextStart =
        () -> {
          timerIsLost = true;
          startAndAwaitBlockedOrTerminated(another);
        };

    passATick();
    Await.end(another);

    assertThatExceptionOfType(ExecutionException.class)
        .isThrownBy(() -> task.get(0, MILLISECONDS))
        .withCauseInstanceOf(RejectedExecutionException.class);
    assertThatNothingIsLeft();
  }

  @ParameterizedTest
  @EnumSource
  @Tag("promise-33")
  void isNotMovedOnceItHasLeft(End end) {
    work = () -> onNextReading = () -> end(end);

    passATick();

    assertThat(timer.stats().rescheduled()).isZero();
    assertThatNothingIsLeft();
  }

  @ParameterizedTest
  @EnumSource
  void leavesIfAListenerEndsTheWait(End end) {
    onNextStart = () -> end(end);

    passATick();

    assertThatNothingIsLeft();
  }

  private static void startAndAwaitBlockedOrTerminated(Thread other) {
    other.start();
    Await.until(
        "the other thread to wait for this one, or to finish",
        () ->
            other.getState() == Thread.State.BLOCKED
                || other.getState() == Thread.State.TERMINATED);
  }

  private void end(End end) {
    switch (end) {
      case CANCEL -> task.cancel(false);
      case SHUTDOWN -> executor.shutdown();
      case SHUTDOWN_NOW -> executor.shutdownNow();
    }
  }

  private void passATick() {
    nowNanos += MILLISECONDS.toNanos(1);
    timer.poll();
  }

  private void assertThatNothingIsLeft() {
    assertThat(timer.pendingTimeouts()).isZero();
    executor.shutdown();
    assertThat(executor.isTerminated()).isTrue();
  }

  private long read() {
    take(onNextReading, next -> onNextReading = next);
    return nowNanos;
  }

  /** Calls back once. */
  private static void take(Runnable callback, Consumer<Runnable> field) {
    field.accept(() -> {});
    callback.run();
  }

  private final class Listener implements TimerListener {
    @Override
    public void started(Timeout timeout) {
      take(onNextStart, next -> onNextStart = next);
    }
  }

  /** The timer, until it is lost. */
  private final class Losable implements Timer {
    @Override
    public Timeout newTimeout(TimerTask task, long delay, TimeUnit unit) {
      if (timerIsLost) {
        throw new IllegalStateException("lost on purpose");
      }
      return timer.newTimeout(task, delay, unit);
    }

    @Override
    public Set<Timeout> stop() {
      return timer.stop();
    }

    @Override
    public Set<Timeout> stop(Duration shutdownTimeout) {
      return timer.stop(shutdownTimeout);
    }

    @Override
    public boolean isStopped() {
      return timer.isStopped();
    }

    @Override
    public long pendingTimeouts() {
      return timer.pendingTimeouts();
    }

    @Override
    public TimerStats stats() {
      return timer.stats();
    }

    @Override
    public TimeSource timeSource() {
      return timer.timeSource();
    }
  }
}
