// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.engine;

import io.timewheel.Timer;
import io.timewheel.durable.internal.attempt.AttemptContext;
import io.timewheel.durable.internal.attempt.AttemptEndRecorder;
import io.timewheel.durable.internal.attempt.EndRule;
import io.timewheel.durable.internal.attempt.HandlerQueue;
import io.timewheel.durable.internal.attempt.Handlers;
import io.timewheel.durable.internal.attempt.KnownHandlers;
import io.timewheel.durable.internal.attempt.PauseGate;
import io.timewheel.durable.internal.commit.CommitLane;
import io.timewheel.durable.internal.commit.Committer;
import io.timewheel.durable.internal.commit.Delays;
import io.timewheel.durable.internal.commit.OtherThreads;
import io.timewheel.durable.internal.commit.StoreTasks;
import io.timewheel.durable.internal.dispatch.Dispatcher;
import io.timewheel.durable.internal.dispatch.OutcomeRouter;
import io.timewheel.durable.internal.due.ClockSteps;
import io.timewheel.durable.internal.due.ClockWatch;
import io.timewheel.durable.internal.due.DueContext;
import io.timewheel.durable.internal.due.MissedRule;
import io.timewheel.durable.internal.due.OwnedShards;
import io.timewheel.durable.internal.due.Shard;
import io.timewheel.durable.internal.health.GuardedLog;
import io.timewheel.durable.internal.health.Health;
import io.timewheel.durable.internal.maintenance.HistoryPurger;
import io.timewheel.durable.internal.maintenance.MaintenanceLoop;
import io.timewheel.durable.internal.maintenance.ResumedTimerReleaser;
import io.timewheel.durable.internal.maintenance.UnknownHandlersReport;
import io.timewheel.durable.internal.queue.HandlerClaims;
import io.timewheel.durable.internal.queue.ReadyClaims;
import io.timewheel.durable.internal.time.EngineClock;
import io.timewheel.durable.internal.time.MissedRunPolicy;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.HandlerNames;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Connects, starts and ends the parts of a durable timer. It has no thread of its own. The thread
 * of the wheel moves entries, the store's executors call the store, and handlers run on their
 * executor.
 */
public final class Engine {
  private final TimerStore store;
  private final EngineSettings settings;
  public final EngineClock clock;
  public final StoreTasks tasks;
  public final Health health;
  public final Committer committer;
  final OutcomeRouter router;
  public final AttemptContext attempts;
  private final OtherThreads handlerExecutor;
  public final Handlers handlers;
  public final KnownHandlers known;
  public final Dispatcher dispatcher;
  public final OwnedShards shards;
  private final ClockWatch clockWatch;
  public final ReadyClaims claims;
  final HandlerClaims handlerClaims;
  public final ResumedTimerReleaser releases;
  private final MaintenanceLoop maintenance;
  private final AtomicBoolean started = new AtomicBoolean();

  public Engine(
      TimerStore store,
      Timer wheel,
      EngineClock clock,
      EngineExecutors executors,
      EngineSettings settings) {
    this.store = store;
    this.clock = clock;
    this.settings = settings;
    Delays delays = new Delays(wheel, this::wheelStopped);
    tasks = new StoreTasks(executors.store(), delays);
    health = new Health(wheel.timeSource(), settings.stackTraces());
    committer =
        new Committer(
            new CommitLane.Settings(
                store,
                delays,
                tasks,
                clock,
                this::router,
                executors.outcomes(),
                settings.queueCapacity(),
                settings.refuseWhenFull()),
            executors.commits());
    MissedRunPolicy policy = new MissedRunPolicy(clock, store.traits().lease());
    AttemptEndRecorder ends =
        new AttemptEndRecorder(
            committer, health, store.traits().claimAhead(), record -> router().ended(record));
    attempts =
        new AttemptContext(
            store,
            clock,
            delays,
            health,
            committer,
            policy,
            new EndRule(clock, policy, settings.random()),
            ends,
            new PauseGate());
    MissedRule missed = new MissedRule(store, tasks, clock, health, policy);
    handlerExecutor = new OtherThreads("handlerExecutor", executors.handlers());
    handlers =
        new Handlers(
            settings.handlers(),
            settings.families(),
            new HandlerQueue.Parts(
                attempts, missed, handlerExecutor, handler -> router().freed(handler)));
    known = new KnownHandlers(handlers);
    dispatcher =
        new Dispatcher(attempts, missed, handlers, known, tasks, settings.overduePerSecond());
    DueContext due =
        new DueContext(
            store, clock, delays, tasks, health, dispatcher, handlers, this::lookAtClock);
    shards = new OwnedShards(due, settings.maxWindow());
    ClockSteps clockSteps = new ClockSteps(due, shards, committer);
    clockWatch = new ClockWatch(due, shards, clockSteps, settings.overduePerSecond());
    claims =
        new ReadyClaims(
            attempts, tasks, record -> router().observe(record), settings.queueLimits());
    handlerClaims = new HandlerClaims(attempts, tasks, claims, handlers);
    releases = new ResumedTimerReleaser(due, shards, known, committer);
    router =
        new OutcomeRouter(health, committer, shards, handlers, claims, handlerClaims, clockSteps);
    maintenance =
        new MaintenanceLoop(
            new MaintenanceLoop.Parts(
                due,
                clockWatch,
                shards,
                handlers,
                ends,
                claims,
                handlerClaims,
                releases,
                new HistoryPurger(store, tasks, clock, settings.retain(), settings.retainAtMost()),
                new UnknownHandlersReport(store, tasks, delays, known),
                settings.client()));
  }

  /** Returns the router of outcomes, for parts that exist before it and call it later. */
  private OutcomeRouter router() {
    return router;
  }

  private void lookAtClock() {
    clockWatch.look();
  }

  /** Begins to fire, with the handlers that have been added. */
  public void start() {
    if (tasks.isClosed()) {
      throw Committer.closed();
    }
    if (started.getAndSet(true)) {
      return;
    }
    try {
      handlerExecutor.check();
      handlers.start();
      maintenance.start();
      store.start(new StoreEvents(this, settings.client()));
    } catch (RuntimeException | Error e) {
      maintenance.cancel();
      started.set(false);
      throw e;
    }
    if (store.traits().sweep().isZero()) {
      known.report(HandlerNames.NONE); // there are no other nodes
    }
    maintenance.storeStarted();
  }

  /** Refuses calls after the wheel was stopped: no timer would fire, so none may be accepted. */
  private void wheelStopped() {
    if (!tasks.isClosed()) {
      GuardedLog.LOG.log(
          System.Logger.Level.ERROR,
          "the wheel was stopped before the durable timer: no timer fires, and calls are refused");
      beginClosing();
      committer.wheelStopped();
    }
  }

  void beginClosing() {
    tasks.close();
    committer.refuseCallers();
    shards.forEach(Shard::close);
    claims.close();
    handlers.close();
  }

  /** Returns whether no attempt runs and all ends are recorded. */
  boolean isIdle() {
    // The order matters: a result reaches the committer before its queue or consumer is idle.
    return handlers.isIdle() && claims.isIdle() && committer.isIdle();
  }

  void close() {
    handlers.interrupt();
    committer.close();
    maintenance.end();
  }
}
