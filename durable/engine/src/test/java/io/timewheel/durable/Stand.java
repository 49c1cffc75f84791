// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.TimeSource;
import io.timewheel.Timeout;
import io.timewheel.Timer;
import io.timewheel.TimerStats;
import io.timewheel.TimerTask;
import io.timewheel.durable.spi.StepExecutor;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.testkit.DurableTestkit;
import io.timewheel.durable.testkit.ManualExecutor;
import io.timewheel.testkit.ManualTimer;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Provides a durable timer without threads whose wheel and executors refuse work on request of a
 * test.
 */
final class Stand {
  private static final Duration STEP = Duration.ofMillis(10);

  final ManualTimer manual;
  final Wheel wheel = new Wheel();
  final Runner storeWork = new Runner();
  final Runner handlers = new Runner();
  Duration skew = Duration.ZERO;

  Stand() {
    this(Long.MAX_VALUE);
  }

  Stand(long maxPending) {
    manual = ManualTimer.create(settings -> settings.maxPendingTimeouts(maxPending));
  }

  DurableTimer start(TimerStore store, Consumer<DurableTimerBuilder> settings) {
    DurableTimer scheduler = builder(store, settings).start();
    settle();
    return scheduler;
  }

  DurableTimerBuilder builder(TimerStore store, Consumer<DurableTimerBuilder> settings) {
    DurableTimerBuilder builder =
        DurableTimer.builder(store)
            .timer(wheel)
            .clock(this::now)
            .storeExecutor(storeWork)
            .handlerExecutor(handlers)
            .random(() -> 0);
    settings.accept(builder);
    return builder;
  }

  Instant now() {
    return DurableTestkit.START.plus(manual.elapsed()).plus(skew);
  }

  void settle() {
    while (storeWork.runOne() || handlers.runOne()) {
      // Until no work is left at this time.
    }
  }

  /** Advances the time in steps, so that refused work is tried again in between. */
  void advance(Duration duration) {
    settle();
    for (Duration passed = Duration.ZERO; passed.compareTo(duration) < 0; ) {
      manual.advanceBy(STEP);
      passed = passed.plus(STEP);
      settle();
    }
  }

  private static void throwIt(Throwable refusal) {
    if (refusal instanceof Error error) {
      throw error;
    } else if (refusal != null) {
      throw (RuntimeException) refusal;
    }
  }

  /** A wheel that throws a given exception instead of accepting a timeout. */
  final class Wheel implements Timer {
    Throwable refusal;
    Runnable whenTaken = () -> {};

    @Override
    public Timeout newTimeout(TimerTask task, long delay, TimeUnit unit) {
      throwIt(refusal);
      Timeout timeout = manual.newTimeout(task, delay, unit);
      whenTaken.run();
      return timeout;
    }

    @Override
    public Set<Timeout> stop() {
      return manual.stop();
    }

    @Override
    public Set<Timeout> stop(Duration shutdownTimeout) {
      return manual.stop(shutdownTimeout);
    }

    @Override
    public boolean isStopped() {
      return manual.isStopped();
    }

    @Override
    public long pendingTimeouts() {
      return manual.pendingTimeouts();
    }

    @Override
    public TimerStats stats() {
      return manual.stats();
    }

    @Override
    public TimeSource timeSource() {
      return manual.timeSource();
    }
  }

  /**
   * An executor that throws a given exception before or after it accepts a task, runs the task at
   * once, or drops it.
   */
  static final class Runner implements StepExecutor {
    private final ManualExecutor steps = new ManualExecutor();
    Throwable refusal;
    Throwable lateRefusal;
    boolean runsAtOnce;
    Executor wrapper = Runnable::run;
    boolean drops;

    @Override
    public void execute(Runnable task) {
      throwIt(refusal);
      if (runsAtOnce) {
        wrapper.execute(task);
      } else if (!drops) {
        steps.execute(task);
      }
      throwIt(lateRefusal);
    }

    @Override
    public boolean runOne() {
      return steps.runOne();
    }
  }
}
