// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.maintenance;

import io.timewheel.Timeout;
import io.timewheel.TimerTask;
import io.timewheel.durable.internal.attempt.AttemptEndRecorder;
import io.timewheel.durable.internal.attempt.Handlers;
import io.timewheel.durable.internal.due.ClockWatch;
import io.timewheel.durable.internal.due.DueContext;
import io.timewheel.durable.internal.due.OwnedShards;
import io.timewheel.durable.internal.health.GuardedLog;
import io.timewheel.durable.internal.queue.HandlerLeases;
import io.timewheel.durable.internal.queue.QueueConsumers;
import io.timewheel.durable.spi.StoreTraits;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The periodic work of the engine. Each second: a look at the clock, and another try of everything
 * that failed. Each minute: warnings, released and purged timers. At the interval of the store:
 * sweeps for the changes of other nodes. It ends with the wheel, whose owner may stop it too early.
 */
public final class MaintenanceLoop implements TimerTask {
  private static final System.Logger LOG = GuardedLog.LOG;
  private static final Duration BEAT = Duration.ofSeconds(1);
  private static final int BEATS_PER_UPKEEP = 60;

  private final Parts parts;
  private int beats;
  private volatile boolean ended;
  private @Nullable Timeout first;

  /** The parts of the engine that are maintained. */
  public record Parts(
      DueContext context,
      ClockWatch clockWatch,
      OwnedShards shards,
      Handlers handlers,
      AttemptEndRecorder ends,
      QueueConsumers consumers,
      HandlerLeases leases,
      ResumedTimerReleaser releases,
      HistoryPurger history,
      UnknownHandlersReport unknownHandlers,
      boolean client) {}

  public MaintenanceLoop(Parts parts) {
    this.parts = parts;
  }

  /** Begins; the first beat comes a second later. */
  public void start() {
    parts.clockWatch.start();
    first = parts.context.delays().wheel().newTimeout(this, BEAT);
  }

  /** Takes the start back, if it was begun: the store could not be started. */
  public void cancel() {
    if (first != null) {
      first.cancel();
    }
  }

  /** Begins the work that needs the store to be started. */
  public void storeStarted() {
    startSweep();
    if (!parts.client) {
      parts.releases.start();
      parts.history.start();
      parts.unknownHandlers.start();
    }
  }

  @Override
  public void run(Timeout timeout) {
    if (ended) {
      return;
    }
    if (!timeout.reschedule(BEAT)) {
      parts.context.delays().stopped();
    } else if (isClosed()) {
      keepAttempts();
    } else {
      beat();
    }
  }

  @Override
  public void cancelled(Timeout timeout) {
    if (parts.context.delays().wheel().isStopped()) {
      parts.context.delays().stopped();
    }
  }

  /** The engine is closed, and waits for no attempt. */
  public void end() {
    ended = true;
  }

  private boolean isClosed() {
    return parts.context.tasks().isClosed();
  }

  private void beat() {
    keepAttempts();
    guarded(parts.clockWatch::look);
    parts.shards.forEach(shard -> guarded(shard::beat));
    if (++beats % BEATS_PER_UPKEEP == 0) {
      upkeep();
    }
  }

  /** Does what running attempts need, also while the engine closes and waits for them. */
  private void keepAttempts() {
    guarded(parts.leases::beat);
    guarded(parts.context.delays()::beat);
  }

  private void upkeep() {
    guarded(parts.context.health().operatorLog::report);
    guarded(parts.context.tasks()::reportWaiting);
    guarded(parts.handlers::upkeep);
    guarded(parts.ends::upkeep);
    parts.shards.forEach(shard -> guarded(shard::upkeep));
    if (!parts.client) {
      guarded(parts.releases::upkeep);
      guarded(parts.history::start);
    }
  }

  /** One part that fails must not hold up the others. */
  private static void guarded(Runnable work) {
    try {
      work.run();
    } catch (RuntimeException | Error e) {
      LOG.log(System.Logger.Level.ERROR, "periodic work threw", e);
    }
  }

  private void startSweep() {
    StoreTraits traits = parts.context.store().traits();
    if (!traits.sweep().isZero()) {
      parts.context.delays().start(this::sweep, traits.sweep());
    }
  }

  private void sweep() {
    if (isClosed()) {
      return;
    }
    startSweep();
    parts.shards.sweep();
    parts.consumers.sweep();
    parts.leases.sweep();
  }
}
