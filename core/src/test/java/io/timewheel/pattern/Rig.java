// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.timewheel.PolledTimer;
import io.timewheel.TimeSource;
import io.timewheel.Timeout;
import io.timewheel.TimerListener;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The environment of the pattern tests: a timer on a clock that they move, with a tick of 1 ms, and
 * an executor that runs tasks on request. The timer's own error handler must not be called: the
 * patterns handle exceptions of user code.
 */
final class Rig implements Executor {
  private final AtomicLong nowNanos = new AtomicLong();
  final PolledTimer timer;
  final Deque<Runnable> tasks = new ArrayDeque<>();
  final Queue<Throwable> errors = new ConcurrentLinkedQueue<>();

  /** The pattern and the key of each error. */
  final Queue<String> errorKeys = new ConcurrentLinkedQueue<>();

  /**
   * These flags control the executor. It accepts a task, rejects it, or accepts it and then throws
   * as if it had rejected it. With neither flag, it silently drops the task.
   */
  boolean takes = true;

  boolean rejects = false;

  /** Runs after each clock reading, before the reader receives the time. */
  Runnable onClock = () -> {};

  /** Runs when a timeout fires, before its task. */
  Runnable onFire = () -> {};

  /** Runs when a timeout was started, before its starter receives it. */
  Runnable onStart = () -> {};

  Rig() {
    this(0);
  }

  Rig(long maxPendingTimeouts) {
    TimeSource clock =
        () -> {
          long nanos = nowNanos.get();
          onClock.run();
          return nanos;
        };
    timer =
        PolledTimer.builder()
            .timeSource(clock)
            .maxPendingTimeouts(maxPendingTimeouts)
            .listener(
                new TimerListener() {
                  @Override
                  public void started(Timeout timeout) {
                    onStart.run();
                  }

                  @Override
                  public void expired(Timeout timeout, long lagNanos) {
                    onFire.run();
                  }
                })
            .onError((timeout, error) -> fail("the timer saw an error", error))
            .build();
  }

  @Override
  public void execute(Runnable task) {
    if (takes) {
      tasks.add(task);
    }
    if (rejects) {
      throw new RejectedExecutionException("rejected by the test");
    }
  }

  void error(String pattern, Object key, Throwable error) {
    errors.add(error);
    errorKeys.add(pattern + " " + key);
  }

  /** Starts timeouts until the timer is full. */
  void fillUp() {
    try {
      while (true) {
        timer.newTimeout(timeout -> {}, Duration.ofDays(1));
      }
    } catch (RejectedExecutionException e) {
      // now it is full
    }
  }

  /**
   * Advances the time in order from one tick with a due timeout to the next. Runs no tasks of the
   * executor.
   */
  void advance(Duration time) {
    advanceMillis(time.toMillis());
  }

  void advanceMillis(long millis) {
    long endNanos = nowNanos.get() + millis * 1_000_000;
    for (long next = timer.nextDeadlineNanos(); next - endNanos <= 0; ) {
      nowNanos.set(Math.max(next, nowNanos.get())); // not back to the time of an overdue timeout
      timer.poll();
      next = timer.nextDeadlineNanos();
    }
    nowNanos.set(endNanos);
  }

  /** Like {@link #advanceMillis}, but runs all tasks of the executor after each tick. */
  void liveMillis(long millis) {
    for (long i = 0; i < millis; i++) {
      advanceMillis(1);
      runTasks();
    }
  }

  long nowMillis() {
    return nowNanos.get() / 1_000_000;
  }

  /** Moves the clock and fires nothing, as if the timer thread were late. */
  void stallMillis(long millis) {
    nowNanos.addAndGet(millis * 1_000_000);
  }

  /** Makes the next timeout fire before its starter receives it. */
  void fireAtOnceAfterMillis(long millis) {
    onStart =
        () -> {
          onStart = () -> {};
          stallMillis(millis);
          timer.poll();
        };
  }

  /** Runs all tasks, including those that they start. */
  void runTasks() {
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      task.run();
    }
  }

  void assertNothingPending() {
    assertThat(timer.pendingTimeouts()).isZero();
  }

  List<String> errorMessages() {
    List<String> messages = new ArrayList<>();
    errors.forEach(error -> messages.add(error.getMessage()));
    return messages;
  }

  /** Starts all actions at once and returns when all have ended. Fails if one failed. */
  static void concurrently(Runnable... actions) {
    CountDownLatch go = new CountDownLatch(1);
    Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    List<Thread> threads = new ArrayList<>();
    for (Runnable action : actions) {
      Thread thread =
          new Thread(
              () -> {
                try {
                  go.await();
                  action.run();
                } catch (Throwable e) {
                  failures.add(e);
                }
              });
      thread.start();
      threads.add(thread);
    }
    go.countDown();
    for (Thread thread : threads) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        throw new AssertionError("interrupted while waiting", e);
      }
    }
    assertThat(failures).isEmpty();
  }
}
