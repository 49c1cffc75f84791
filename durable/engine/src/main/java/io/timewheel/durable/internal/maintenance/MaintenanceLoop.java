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
import io.timewheel.durable.internal.queue.HandlerClaims;
import io.timewheel.durable.internal.queue.ReadyClaims;
import io.timewheel.durable.spi.StoreTraits;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Runs the periodic work of the engine. Each second it checks the clock and retries failed work.
 * Each minute it logs warnings, and releases and purges timers. At the interval of the store it
 * sweeps for the changes of other nodes. The loop ends with the wheel, which its owner may stop too
 * early.
 */
public final class MaintenanceLoop implements TimerTask {
  private static final System.Logger LOG = GuardedLog.LOG;
  private static final Duration TICK = Duration.ofSeconds(1);
  private static final int TICKS_PER_MAINTENANCE = 60;

  private final Parts parts;
  private int ticks;
  private volatile boolean ended;
  private @Nullable Timeout first;

  /** The parts of the engine that are maintained. */
  public record Parts(
      DueContext context,
      ClockWatch clockWatch,
      OwnedShards shards,
      Handlers handlers,
      AttemptEndRecorder ends,
      ReadyClaims claims,
      HandlerClaims handlerClaims,
      ResumedTimerReleaser releases,
      HistoryPurger history,
      UnknownHandlersReport unknownHandlers,
      boolean client) {}

  public MaintenanceLoop(Parts parts) {
    this.parts = parts;
  }

  /** Starts the loop. The first maintenance tick is a second later. */
  public void start() {
    parts.clockWatch.start();
    first = parts.context.delays().wheel().newTimeout(this, TICK);
  }

  /** Cancels the start, because the store could not be started. */
  public void cancel() {
    if (first != null) {
      first.cancel();
    }
  }

  /** Starts the work that needs a started store. */
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
    if (!timeout.reschedule(TICK)) {
      parts.context.delays().stopped();
    } else if (isClosed()) {
      keepAttempts();
    } else {
      tick();
    }
  }

  @Override
  public void cancelled(Timeout timeout) {
    if (parts.context.delays().wheel().isStopped()) {
      parts.context.delays().stopped();
    }
  }

  /** Ends the loop: the engine is closed and waits for no attempt. */
  public void end() {
    ended = true;
  }

  private boolean isClosed() {
    return parts.context.tasks().isClosed();
  }

  private void tick() {
    keepAttempts();
    guarded(parts.clockWatch::look);
    parts.shards.forEach(shard -> guarded(shard::tick));
    if (++ticks % TICKS_PER_MAINTENANCE == 0) {
      maintain();
    }
  }

  /** Does the work that running attempts need, also while the engine closes and waits for them. */
  private void keepAttempts() {
    guarded(parts.handlerClaims::tick);
    guarded(parts.context.delays()::tick);
  }

  private void maintain() {
    guarded(parts.context.health().operatorLog::report);
    guarded(parts.context.tasks()::reportWaiting);
    guarded(parts.handlers::maintain);
    guarded(parts.ends::maintain);
    parts.shards.forEach(shard -> guarded(shard::maintain));
    if (!parts.client) {
      guarded(parts.releases::maintain);
      guarded(parts.history::start);
    }
  }

  /** Runs a part. Its failure must not stop the others. */
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
    parts.claims.sweep();
    parts.handlerClaims.sweep();
  }
}
