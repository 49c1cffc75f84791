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
 * What the tests of the patterns work on: a timer on a clock that they move, with a tick of 1 ms,
 * and an executor that runs tasks when a test says so. The timer's own error handler must not be
 * called: the patterns handle what user code throws.
 */
final class Rig implements Executor {
  private final AtomicLong nowNanos = new AtomicLong();
  final PolledTimer timer;
  final Deque<Runnable> tasks = new ArrayDeque<>();
  final Queue<Throwable> errors = new ConcurrentLinkedQueue<>();

  /** The pattern and the key of each error. */
  final Queue<String> errorKeys = new ConcurrentLinkedQueue<>();

  /**
   * What the executor does with a task: takes it; rejects it; takes it and then throws as if it had
   * rejected it; or, with neither, drops it silently.
   */
  boolean takes = true;

  boolean rejects = false;

  /** Runs whenever the clock was read, before its reader has the time. */
  Runnable onClock = () -> {};

  /** Runs whenever a timeout fires, before its task. */
  Runnable onFire = () -> {};

  /** Runs whenever a timeout was started, before its starter has it. */
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

  /** Starts as many timeouts as the timer has room for. */
  void fillUp() {
    try {
      while (true) {
        timer.newTimeout(timeout -> {}, Duration.ofDays(1));
      }
    } catch (RejectedExecutionException e) {
      // now it is full
    }
  }

  /** Lets time pass, from one tick at which something is due to the next. Runs no tasks. */
  void advance(Duration time) {
    advanceMillis(time.toMillis());
  }

  void advanceMillis(long millis) {
    long endNanos = nowNanos.get() + millis * 1_000_000;
    for (long next = timer.nextDeadlineNanos(); next - endNanos <= 0; ) {
      nowNanos.set(Math.max(next, nowNanos.get())); // not back, to what is overdue
      timer.poll();
      next = timer.nextDeadlineNanos();
    }
    nowNanos.set(endNanos);
  }

  /** As {@link #advanceMillis}, but after each tick whatever was handed to the executor runs. */
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

  /** Makes the next timeout that is started fire before its starter has it. */
  void fireAtOnceAfterMillis(long millis) {
    onStart =
        () -> {
          onStart = () -> {};
          stallMillis(millis);
          timer.poll();
        };
  }

  /** Runs all tasks, those included that they start. */
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

  /** Starts all actions at once and returns when all have ended; fails if one failed. */
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
