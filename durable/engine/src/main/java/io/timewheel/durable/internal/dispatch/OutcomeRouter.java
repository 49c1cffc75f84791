// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.dispatch;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.internal.attempt.AttemptRun;
import io.timewheel.durable.internal.attempt.HandlerQueue;
import io.timewheel.durable.internal.attempt.Handlers;
import io.timewheel.durable.internal.commit.Committer;
import io.timewheel.durable.internal.due.ClockSteps;
import io.timewheel.durable.internal.due.OwnedShards;
import io.timewheel.durable.internal.due.Shard;
import io.timewheel.durable.internal.health.Health;
import io.timewheel.durable.internal.queue.ReadyClaims;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerDefinition;
import io.timewheel.durable.spi.TimerRecord;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Passes the outcome of each change, once, to the parts of the engine that need it. These are the
 * shard of its timer, an attempt that must be given back, and the consumers of a ready timer.
 */
public final class OutcomeRouter implements Committer.Listener {
  private final Health health;
  private @Nullable Parts parts;
  private @Nullable Committer committer;

  /** The recipients of outcomes. */
  public record Parts(
      OwnedShards shards, Handlers handlers, ReadyClaims claims, ClockSteps clockSteps) {}

  public OutcomeRouter(Health health) {
    this.health = health;
  }

  /**
   * Sets the recipients, before the first commit. They cannot be passed earlier, because they need
   * the committer, which needs this listener.
   */
  public void connect(Committer source, Parts targets) {
    committer = source;
    parts = targets;
  }

  private Parts parts() {
    return requireNonNull(parts, "parts");
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
    Shard shard = parts().shards.of(change.key());
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
    return parts().handlers.isRunBy(thread);
  }

  @Override
  public void committed(Change change, Outcome outcome, boolean own) {
    if (own && outcome.answer() == Outcome.Answer.STALE_OWNER) {
      parts().shards.stale(change);
      return;
    }
    TimerRecord record = outcome.record();
    if (record != null) {
      observe(record);
      if (change instanceof Change.Finish || change instanceof Change.Skip) {
        parts().clockSteps.ended(record);
      }
      if (record.state() == TimerState.READY) {
        ready(record.key().namespace(), record.definition());
      }
    }
  }

  private void ready(String namespace, TimerDefinition definition) {
    if (definition.queue()) {
      parts().claims.ready(namespace, definition.handler());
    } else {
      parts().claims.ready(definition.handler());
    }
  }

  /** Passes a record to the parts that need it, after a commit or a claim. */
  public void observe(TimerRecord record) {
    if (record.state() == TimerState.RUNNING && AttemptRun.isStopped(record)) {
      giveBack(record);
    }
    parts().shards.observe(record);
  }

  /** Passes on the record of a timer of another node, after its attempt has ended here. */
  public void ended(TimerRecord record) {
    observe(record); // this node may now own its shard
    parts().clockSteps.ended(record);
  }

  /** Reports that the handler of this name has a free concurrency slot. */
  public void freed(String handler) {
    parts().claims.freed(handler);
  }

  private void giveBack(TimerRecord record) {
    afterClaims(
        () -> {
          HandlerQueue queue = parts().handlers.of(record.definition().handler());
          if (queue != null) {
            queue.giveBack(run -> run.isClaimOf(record));
          }
        });
  }

  /** Gives back attempts that have not begun. */
  public void giveBack(Predicate<AttemptRun> which) {
    afterClaims(() -> parts().handlers.all().forEach(queue -> queue.giveBack(which)));
  }

  /**
   * Runs work now, and again after the claims that are committed but whose outcomes are not
   * processed yet.
   */
  private void afterClaims(Runnable work) {
    work.run();
    requireNonNull(committer, "committer").whenTold(work);
  }
}
