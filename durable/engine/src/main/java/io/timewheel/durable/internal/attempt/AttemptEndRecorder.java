// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import io.timewheel.durable.internal.commit.Committer;
import io.timewheel.durable.internal.due.ClaimHolder;
import io.timewheel.durable.internal.health.Health;
import io.timewheel.durable.internal.time.EpochMillis;
import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.Claim;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.TimerRecord;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Has the ends of attempts recorded, those included that the store rejects. Whatever a store may
 * have against an end is most likely in its text, so it is asked at once to take it with a plain
 * one. If it rejects that too, it is asked again with each upkeep; until then the timer stays
 * RUNNING, and nobody else begins it.
 *
 * <p>Counts each end once, after the store has answered, and as the store holds it: an end that the
 * store refuses is not counted, and neither is one of a timer that was replaced meanwhile.
 */
public final class AttemptEndRecorder {
  /** More are left as they are to the next owner: what cannot be recorded must not fill memory. */
  private static final int MAX_KEPT = 1_000;

  private static final String PLAIN_ERROR = "failed; the store rejected the text of the error";

  private final Committer committer;
  private final Health health;
  private final long claimAheadMillis;
  private final List<Rejected> kept = new ArrayList<>();

  /** An end that the store did not take. */
  private record Rejected(ClaimHolder holder, AttemptEnd end) {}

  /**
   * @param claimAhead how long before its time the next attempt is claimed
   */
  public AttemptEndRecorder(Committer committer, Health health, Duration claimAhead) {
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

  private static Change.Finish plain(Change.Finish end) {
    return new Change.Finish(
        end.key(),
        end.token(),
        end.epoch(),
        end.end(),
        end.nextAt(),
        end.seriesAt(),
        PLAIN_ERROR,
        end.claimed(),
        end.request(),
        end.now());
  }

  /**
   * Counts an end that the store has answered. The record contains the end of the last claim. It
   * may differ from the end that was asked for: a handler that records its own success may have
   * failed after its commit.
   *
   * <p>The engine records each end of its own once, and may commit it again after a lost answer. A
   * consumer may end its claim several times, on several nodes: only the first end counts.
   */
  public void recorded(AttemptEnd end, Outcome outcome) {
    Change.Finish change = end.change();
    TimerRecord record = outcome.record();
    Claim last = record == null ? null : record.former();
    if (record == null || last == null || !last.token().equals(change.token())) {
      return;
    }
    Attempt.End held = last.end();
    boolean ofHandler = change.claimed() != null;
    boolean ofConsumer = !ofHandler && change.epoch() == 0;
    boolean applied =
        outcome.answer() == Outcome.Answer.APPLIED && !(ofConsumer && outcome.repeated());
    if ((applied || ofHandler) && held == Attempt.End.SUCCEEDED) {
      health.counters.succeeded.increment();
    } else if (applied && held == Attempt.End.FAILED) {
      health.counters.failed.increment();
    } else if (applied && held == Attempt.End.LOST) {
      health.counters.lost.increment();
    }
    if (applied && held != Attempt.End.SUPERSEDED) {
      health.dropped(change.key(), end.dropped());
      if (isLast(change.end()) && record.state() != TimerState.CANCELLED) {
        health.counters.exhausted.increment();
        health.operatorLog.add(
            record.definition().isRecurring() ? "given up for this run" : "failed",
            change.key(),
            String.valueOf(change.error()));
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

  /** Asks again for all that was rejected. */
  public void upkeep() {
    List<Rejected> again;
    synchronized (this) {
      again = List.copyOf(kept);
      kept.clear();
    }
    again.forEach(rejected -> record(rejected.holder, rejected.end));
  }

  /** Leaves what could not be recorded of a shard, or of a claim lease, to its next owner. */
  public void leave(ClaimHolder holder) {
    List<Rejected> left;
    synchronized (this) {
      left = kept.stream().filter(rejected -> rejected.holder == holder).toList();
      kept.removeAll(left);
    }
    left.forEach(rejected -> holder.answered(rejected.end.change().key(), null));
  }

  /** How many ends wait to be asked for again. */
  public synchronized int size() {
    return kept.size();
  }
}
