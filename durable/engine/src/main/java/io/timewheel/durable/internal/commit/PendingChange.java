// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.commit;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.internal.health.GuardedLog;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.DurableTimerException.Reason;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerDefinition;
import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A change on its way to the store: of a caller, or of the engine. */
final class PendingChange {
  private static final System.Logger LOG = GuardedLog.LOG;
  private static final int MAX_TRIES_OF_UNKNOWN = 5;

  /** For how long a call waits for a timer that another transaction holds, over all its tries. */
  static final Duration HELD_LIMIT = Duration.ofSeconds(5);

  final Change change;
  private final Committer.@Nullable Call call;
  private final @Nullable Consumer<@Nullable Outcome> then;

  /** Of its payload and headers. */
  final int bytes;

  private int tries;

  /** When its timer was found held; null if it was not. */
  private @Nullable Long heldNanos;

  /** Whether an earlier try may have been done: from then on no failure means "not done". */
  private boolean mayBeDone;

  PendingChange(
      Change change, Committer.@Nullable Call call, @Nullable Consumer<@Nullable Outcome> then) {
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

  /** It is one of many that failed together: what the engine needs of it must not wait for long. */
  void forgetTries() {
    tries = 0;
  }

  /** A try may have been done, or not. */
  void becomesUnknown() {
    mayBeDone = true;
  }

  /** Whether a failed try is followed by another one. */
  boolean isRepeatedAfter(StoreException.Kind kind) {
    tries++;
    boolean unknown = kind == StoreException.Kind.UNKNOWN;
    return isOwn()
        ? kind != StoreException.Kind.REJECTED
        : unknown && change.request() != null && tries < MAX_TRIES_OF_UNKNOWN;
  }

  /** Starts the wait for its timer, which another transaction holds, unless it has started. */
  void becomesHeld(long nowNanos) {
    if (heldNanos == null) {
      heldNanos = nowNanos;
    }
  }

  /** Returns true if it has waited for its timer, which another transaction held. */
  boolean wasHeld() {
    return heldNanos != null;
  }

  /**
   * Returns true if its timer is held by another transaction for longer than a caller waits. The
   * engine's own changes wait for any time.
   */
  boolean isHeldTooLong(long nowNanos) {
    return !isOwn() && heldNanos != null && nowNanos - heldNanos >= HELD_LIMIT.toNanos();
  }

  void complete(Outcome outcome, Committer.Listener listener) {
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

  /** Tells its caller that it was not taken at all. */
  void refuse(RuntimeException refusal) {
    requireNonNull(call).fail(refusal);
  }

  /**
   * Ends without a commit; if an earlier try may have been done, nobody can say that it was not.
   */
  void fail(Reason failed, Throwable cause) {
    fail(failed, String.valueOf(cause.getMessage()), cause);
  }

  /** The same for another message than that of the cause. */
  void fail(Reason failed, String message, @Nullable Throwable cause) {
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
