// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.commit;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.internal.health.GuardedLog;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.DurableTimerException.Reason;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerDefinition;
import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A change of a caller or of the engine that the store has not answered yet. */
final class PendingChange {
  private static final System.Logger LOG = GuardedLog.LOG;
  private static final int MAX_TRIES_OF_UNKNOWN = 5;

  /** How long a call waits for a timer that another transaction has locked, over all its tries. */
  static final Duration HELD_LIMIT = Duration.ofSeconds(5);

  final Change change;
  private final Committer.@Nullable Call call;
  private final @Nullable Consumer<@Nullable Outcome> then;
  private final LaneAssignment assignment;

  /** The size of its payload and headers, in bytes. */
  final int bytes;

  private int tries;

  /** The time at which its timer was found to be locked; null if it was not. */
  private @Nullable Long heldNanos;

  /**
   * True if an earlier try may have been committed. Then a later failure does not mean "not
   * committed".
   */
  private boolean mayBeDone;

  private boolean released;

  PendingChange(
      Change change,
      Committer.@Nullable Call call,
      @Nullable Consumer<@Nullable Outcome> then,
      LaneAssignment assignment) {
    this.assignment = assignment;
    this.change = change;
    this.call = call;
    this.then = then;
    bytes = change instanceof Change.Schedule schedule ? bytesOf(schedule.definition()) : 0;
  }

  private static int bytesOf(TimerDefinition definition) {
    int sum = definition.payload().length;
    for (Map.Entry<String, String> header : definition.headers().entrySet()) {
      sum += header.getKey().length() + header.getValue().length();
    }
    return sum;
  }

  boolean isOwn() {
    return then != null;
  }

  int tries() {
    return tries;
  }

  /**
   * Resets the count of tries, so that the next try is soon. The change failed only together with
   * many others.
   */
  void resetTries() {
    tries = 0;
  }

  /** Records that a try may have been committed. */
  void becomesUnknown() {
    mayBeDone = true;
  }

  /** Returns whether the result of an earlier try is unknown, and still is after this outcome. */
  boolean isUndecidedBy(Outcome outcome) {
    return mayBeDone && outcome.isPassedOver();
  }

  /** Returns whether a failed try is followed by another one. */
  boolean isRepeatedAfter(StoreException.Kind kind) {
    tries++;
    boolean unknown = kind == StoreException.Kind.UNKNOWN;
    return isOwn()
        ? kind != StoreException.Kind.REJECTED
        : unknown && change.request() != null && tries < MAX_TRIES_OF_UNKNOWN;
  }

  /** Starts the wait for its locked timer, unless it has started. */
  void becomesHeld(long nowNanos) {
    if (heldNanos == null) {
      heldNanos = nowNanos;
    }
  }

  /** Returns whether it has waited for a locked timer. */
  boolean wasHeld() {
    return heldNanos != null;
  }

  /**
   * Returns whether its timer has been locked for longer than a caller waits. The engine's own
   * changes wait without limit.
   */
  boolean isHeldTooLong(long nowNanos) {
    return !isOwn() && heldNanos != null && nowNanos - heldNanos >= HELD_LIMIT.toNanos();
  }

  void complete(Outcome outcome, Committer.Listener listener) {
    release();
    try {
      listener.committed(change, outcome, isOwn());
    } catch (RuntimeException | Error e) {
      LOG.log(System.Logger.Level.ERROR, "after the commit of " + change, e);
    }
    try {
      if (call != null) {
        call.answer(outcome);
      } else {
        requireNonNull(then).accept(outcome);
      }
    } catch (RuntimeException | Error e) {
      LOG.log(System.Logger.Level.ERROR, "after the commit of " + change, e);
    }
  }

  /** Ends its assignment to a lane, once. */
  synchronized void release() {
    if (!released) {
      released = true;
      assignment.end(change.key());
    }
  }

  /** Fails the call: nothing was committed. */
  void refuse(RuntimeException refusal) {
    release();
    requireNonNull(call).fail(refusal);
  }

  /**
   * Fails the call without a commit. If an earlier try may have been committed, the reason is
   * UNKNOWN.
   */
  void fail(Reason failed, Throwable cause) {
    fail(failed, String.valueOf(cause.getMessage()), cause);
  }

  /**
   * Fails the call as {@link #fail(Reason, Throwable)} does, with another message than that of the
   * cause.
   */
  void fail(Reason failed, String message, @Nullable Throwable cause) {
    release();
    Reason reason = mayBeDone ? Reason.UNKNOWN : failed;
    try {
      if (call != null) {
        call.fail(new DurableTimerException(reason, 0, change.key() + ": " + message, cause));
      } else {
        requireNonNull(then).accept(null);
      }
    } catch (RuntimeException | Error e) {
      LOG.log(System.Logger.Level.ERROR, "after the failure of " + change, e);
    }
  }
}
