// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.dispatch;

import io.timewheel.durable.internal.attempt.AttemptRun;
import io.timewheel.durable.internal.attempt.HandlerQueue;
import io.timewheel.durable.internal.attempt.Handlers;
import io.timewheel.durable.internal.commit.Committer;
import io.timewheel.durable.internal.due.ClockSteps;
import io.timewheel.durable.internal.due.OwnedShards;
import io.timewheel.durable.internal.due.Shard;
import io.timewheel.durable.internal.health.Health;
import io.timewheel.durable.internal.queue.HandlerClaims;
import io.timewheel.durable.internal.queue.ReadyClaims;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerDefinition;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.function.Predicate;

/**
 * Passes the outcome of each change, once, to the parts of the engine that need it. These are the
 * shard of its timer, an attempt that must be given back, and the consumers of a ready timer.
 */
public final class OutcomeRouter implements Committer.Listener {
  private final Health health;
  private final Committer committer;
  private final OwnedShards shards;
  private final Handlers handlers;
  private final ReadyClaims claims;
  private final HandlerClaims handlerClaims;
  private final ClockSteps clockSteps;

  public OutcomeRouter(
      Health health,
      Committer committer,
      OwnedShards shards,
      Handlers handlers,
      ReadyClaims claims,
      HandlerClaims handlerClaims,
      ClockSteps clockSteps) {
    this.health = health;
    this.committer = committer;
    this.shards = shards;
    this.handlers = handlers;
    this.claims = claims;
    this.handlerClaims = handlerClaims;
    this.clockSteps = clockSteps;
  }

  @Override
  public void answered() {
    health.writing.answered();
  }

  @Override
  public void failed(int changes, StoreException failure) {
    health.counters.failedCommits.increment();
    health.writing.failed("a commit of " + changes, failure);
  }

  @Override
  public void unknown(Change change, boolean own) {
    health.counters.unknownOutcomes.increment();
    Shard shard = shards.of(change.key());
    if (shard != null && !own) {
      shard.reload();
    }
  }

  @Override
  public void rejected(Change change, StoreException failure) {
    health.counters.rejected.increment();
    String step = change.getClass().getSimpleName();
    health.operatorLog.add(
        "rejected by the store", change.key(), step + ": " + failure.getMessage());
  }

  @Override
  public boolean isAwaited(Thread thread) {
    return handlers.isRunBy(thread);
  }

  @Override
  public void committed(Change change, Outcome outcome, boolean own) {
    if (own && outcome.answer() == Outcome.Answer.STALE_OWNER) {
      shards.stale(change);
      return;
    }
    TimerRecord record = outcome.record();
    if (record != null) {
      if (change instanceof Change.Finish || change instanceof Change.Skip) {
        ended(record);
      } else {
        observe(record);
      }
      if (record.state() == TimerState.READY) {
        ready(record.key().namespace(), record.definition());
      }
    }
  }

  private void ready(String namespace, TimerDefinition definition) {
    if (definition.queue()) {
      claims.ready(namespace, definition.handler());
    } else {
      handlerClaims.ready(definition.handler());
    }
  }

  /** Passes a record to the parts that need it, after a commit or a claim. */
  public void observe(TimerRecord record) {
    if (record.state() == TimerState.RUNNING && AttemptRun.isStopped(record)) {
      giveBack(record);
    }
    shards.observe(record);
  }

  /** Passes on a record after an end that its handler has committed itself. */
  public void ended(TimerRecord record) {
    observe(record);
    clockSteps.ended(record);
  }

  /** Reports that the handler of this name has a free concurrency slot. */
  public void freed(String handler) {
    handlerClaims.freed(handler);
  }

  private void giveBack(TimerRecord record) {
    afterClaims(
        () -> {
          HandlerQueue queue = handlers.of(record.definition().handler());
          if (queue != null) {
            queue.giveBack(run -> run.isClaimOf(record));
          }
        });
  }

  /** Gives back attempts that have not begun. */
  public void giveBack(Predicate<AttemptRun> which) {
    afterClaims(() -> handlers.all().forEach(queue -> queue.giveBack(which)));
  }

  /**
   * Runs work now, and again after the claims that are committed but whose outcomes are not
   * processed yet.
   */
  private void afterClaims(Runnable work) {
    work.run();
    committer.afterOutcomes(work);
  }
}
