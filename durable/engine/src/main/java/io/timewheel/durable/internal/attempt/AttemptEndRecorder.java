// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import io.timewheel.durable.internal.commit.Committer;
import io.timewheel.durable.internal.due.ClaimHolder;
import io.timewheel.durable.internal.health.Health;
import io.timewheel.durable.internal.time.EpochMillis;
import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Claim;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerRecord;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Records the ends of attempts, including those that the store rejects. The most likely reason for
 * a rejection is the text of the error, so the end is committed again at once with a plain text. If
 * the store rejects that too, each maintenance pass tries again. Until then the timer stays
 * RUNNING, and no other attempt begins.
 *
 * <p>Counts each end once, after the store has answered, and with the outcome that the store
 * contains. Ends that the store refuses, and ends of timers that were replaced during the attempt,
 * do not count.
 */
public final class AttemptEndRecorder {
  /** The largest number of rejected ends in memory. The next owner handles any others. */
  private static final int MAX_KEPT = 1_000;

  private static final String PLAIN_ERROR = "failed; the store rejected the text of the error";

  private final Committer committer;
  private final Health health;
  private final long claimAheadMillis;
  private final Consumer<TimerRecord> observer;
  private final List<Rejected> kept = new ArrayList<>();

  /** An end that the store has rejected. */
  private record Rejected(ClaimHolder holder, AttemptEnd end) {}

  /**
   * @param claimAhead how long before its time the next attempt is claimed
   * @param observer receives the records of ends that handlers have committed themselves
   */
  public AttemptEndRecorder(
      Committer committer, Health health, Duration claimAhead, Consumer<TimerRecord> observer) {
    this.observer = observer;
    this.committer = committer;
    this.health = health;
    claimAheadMillis = claimAhead.toMillis();
  }

  void record(ClaimHolder holder, AttemptEnd end) {
    Change.Finish change = end.change();
    committer.submitOwn(
        change,
        EpochMillis.saturatedSubtract(change.nextAt(), claimAheadMillis),
        outcome -> {
          if (outcome != null) {
            recorded(end, outcome);
            holder.answered(change.key(), outcome);
          } else if (change.error() != null && !change.error().equals(PLAIN_ERROR)) {
            record(holder, new AttemptEnd(plain(change), end.dropped()));
          } else {
            keep(new Rejected(holder, end));
          }
        });
  }

  /** Accepts the outcome of an end that the handler has committed itself. */
  void recorded(ClaimHolder holder, AttemptEnd end, Outcome outcome) {
    recorded(end, outcome);
    if (outcome.record() != null) {
      observer.accept(outcome.record());
    }
    holder.answered(end.change().key(), outcome);
  }

  private static Change.Finish plain(Change.Finish end) {
    return new Change.Finish(
        end.key(),
        end.token(),
        end.epoch(),
        end.end(),
        end.nextAt(),
        end.nextScheduledAt(),
        PLAIN_ERROR,
        null,
        end.claimed(),
        end.request(),
        end.now());
  }

  /**
   * Counts an end that the store has answered. The record contains the end of the last claim. It
   * may differ from the requested end, because a handler that records its own success may have
   * failed after its commit.
   *
   * <p>The engine records each of its own ends once, and may commit it again after a lost answer. A
   * consumer may end its claim several times, on several nodes; only the first end counts.
   */
  public void recorded(AttemptEnd end, Outcome outcome) {
    Change.Finish change = end.change();
    TimerRecord record = outcome.record();
    Claim last = record == null ? null : record.former();
    if (record == null || last == null || !last.token().equals(change.token())) {
      return;
    }
    Attempt.End recorded = last.end();
    boolean ofHandler = change.claimed() != null;
    boolean ofConsumer = !ofHandler && change.epoch() == 0;
    boolean applied =
        outcome.answer() == Outcome.Answer.APPLIED && !(ofConsumer && outcome.repeated());
    if ((applied || ofHandler) && recorded == Attempt.End.SUCCEEDED) {
      health.counters.succeeded.increment();
    } else if (applied && recorded == Attempt.End.FAILED) {
      health.counters.failed.increment();
    } else if (applied && recorded == Attempt.End.LOST) {
      health.counters.lost.increment();
    }
    if (applied && recorded != Attempt.End.SUPERSEDED) {
      health.overrun(change.key(), end.dropped());
      if (isLast(change.end()) && record.state() != TimerState.CANCELLED) {
        health.counters.exhausted.increment();
        if (!ofHandler) { // otherwise its failure is logged
          health.operatorLog.add(
              record.definition().isRecurring() ? "given up for this run" : "failed",
              change.key(),
              String.valueOf(change.error()));
        }
      }
    }
  }

  private static boolean isLast(Change.Finish.End end) {
    return end == Change.Finish.End.EXHAUSTED || end == Change.Finish.End.LOST_EXHAUSTED;
  }

  private void keep(Rejected rejected) {
    boolean full;
    synchronized (this) {
      full = kept.size() >= MAX_KEPT;
      if (!full) {
        kept.add(rejected);
      }
    }
    if (full) {
      rejected.holder.answered(rejected.end.change().key(), null);
    } else if (rejected.holder.isClosed()) {
      leave(rejected.holder);
    }
  }

  /** Retries all rejected ends. */
  public void maintain() {
    List<Rejected> again;
    synchronized (this) {
      again = List.copyOf(kept);
      kept.clear();
    }
    again.forEach(rejected -> record(rejected.holder, rejected.end));
  }

  /** Drops the rejected ends of a shard or of a claim lease. Its next owner handles them. */
  public void leave(ClaimHolder holder) {
    List<Rejected> left;
    synchronized (this) {
      left = kept.stream().filter(rejected -> rejected.holder == holder).toList();
      kept.removeAll(left);
    }
    left.forEach(rejected -> holder.answered(rejected.end.change().key(), null));
  }

  /** Returns the number of ends that wait for a retry. */
  public synchronized int size() {
    return kept.size();
  }
}
