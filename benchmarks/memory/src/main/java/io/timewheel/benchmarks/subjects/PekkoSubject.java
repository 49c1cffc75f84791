// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.subjects;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.LightArrayRevolverScheduler;
import org.apache.pekko.event.NoLogging$;
import scala.concurrent.ExecutionContext;
import scala.concurrent.duration.FiniteDuration;

/** Pekko's scheduler, with tasks on its own thread, as the other timers run them. */
final class PekkoSubject implements Subject {
  private static final ExecutionContext ON_THE_TIMER =
      new ExecutionContext() {
        @Override
        public void execute(Runnable task) {
          task.run();
        }

        @Override
        public void reportFailure(Throwable cause) {
          throw new IllegalStateException(cause);
        }
      };

  private final LightArrayRevolverScheduler scheduler;

  /**
   * An application that always uses the same delay makes it in advance. Immutable, so a race is
   * harmless.
   */
  private FiniteDuration lastDelay = FiniteDuration.apply(1, NANOSECONDS);

  PekkoSubject(Settings settings) {
    Config config =
        ConfigFactory.parseString(
            """
            pekko.scheduler.ticks-per-wheel = %d
            pekko.scheduler.tick-duration = %d ns
            pekko.scheduler.error-on-tick-duration-verification-failed = on
            pekko.scheduler.shutdown-timeout = 60 s
            """
                .formatted(Settings.SLOTS, settings.tickNanos()));
    scheduler = new LightArrayRevolverScheduler(config, NoLogging$.MODULE$, Daemon::new);
  }

  @Override
  public Object task(Runnable body) {
    return body;
  }

  @Override
  public Object start(Object task, long delayNanos) {
    FiniteDuration delay = lastDelay;
    if (delay.length() != delayNanos) {
      delay = FiniteDuration.apply(delayNanos, NANOSECONDS);
      lastDelay = delay;
    }
    return scheduler.scheduleOnce(delay, (Runnable) task, ON_THE_TIMER);
  }

  @Override
  public boolean cancel(Object handle) {
    return ((Cancellable) handle).cancel();
  }

  @Override
  public void close() {
    scheduler.close();
  }
}
