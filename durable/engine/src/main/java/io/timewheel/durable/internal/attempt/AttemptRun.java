// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.internal.due.ClaimHolder;
import io.timewheel.durable.internal.due.Shard;
import io.timewheel.durable.internal.health.Events;
import io.timewheel.durable.internal.health.FailureLog;
import io.timewheel.durable.internal.health.GuardedLog;
import io.timewheel.durable.internal.time.EpochMillis;
import io.timewheel.durable.model.AsyncHandler;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Claim;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerRecord;
import java.time.Instant;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Runs one claimed attempt: calls the handler and records the outcome. */
public final class AttemptRun implements Runnable {
  private static final System.Logger LOG = GuardedLog.LOG;
  private static final long NOT_HANDED = Long.MAX_VALUE;

  /**
   * The wait of an attempt whose session may have lost its shards. After this time, the store has
   * detected the loss or renewed the node lease.
   */
  private static final long NOT_LIVE_WAIT_MILLIS = 1_000;

  /** The wait for a thread after which the executor may have dropped the attempt. */
  private static final long DROPPED_MILLIS = 60_000;

  private final AttemptContext context;
  private final HandlerAttempts attempts;
  private final HandlerQueue.Config config;
  private final ClaimHolder holder;
  private final OpenClaim open;
  private final TimerRecord record;
  private final HandlerCall call;

  /** The time before which it must not begin. */
  private final long dueMillis;

  /** The number of pauses before the claim of this attempt. A later pause prevents its start. */
  private final long pausesBeforeClaim;

  private volatile long handedAtMillis = NOT_HANDED;
  private boolean ended;

  /** True if the attempt must not begin, although the executor may still run its task. */
  private volatile boolean stopped;

  AttemptRun(
      AttemptContext context,
      HandlerAttempts attempts,
      HandlerQueue.Config config,
      ClaimHolder holder,
      TimerRecord record,
      long dueMillis,
      long pausesBeforeClaim) {
    this.context = context;
    this.attempts = attempts;
    this.config = config;
    this.holder = holder;
    this.record = record;
    this.dueMillis = dueMillis;
    this.pausesBeforeClaim = pausesBeforeClaim;
    open = OpenClaim.ofHandler(record);
    call = new HandlerCall(context.delays(), config.timeLimit());
  }

  public boolean isOf(Shard owned) {
    return holder == owned;
  }

  public boolean isOf(String namespace) {
    return record.key().namespace().equals(namespace);
  }

  /** Returns whether it was leased from a shard of another node. */
  boolean isLeased() {
    return open.isLeased();
  }

  /** Returns whether a later record of the timer still contains the claim of this attempt. */
  public boolean isClaimOf(TimerRecord later) {
    Claim claim = later.claim();
    return claim != null
        && claim.token().equals(open.claim().token())
        && later.key().equals(record.key());
  }

  /** Returns whether a record was cancelled or paused after its claim was sent. */
  public static boolean isStopped(TimerRecord claimed) {
    return claimed.cancelRequested() || claimed.paused();
  }

  HandlerCall call() {
    return call;
  }

  // Before the attempt begins

  /**
   * Decides whether a claimed attempt starts, and when.
   *
   * @param maxEarlyMillis the longest time for which it waits with its slot
   */
  AttemptStart start(long maxEarlyMillis) {
    return AttemptStart.decide(
        context.rule().isLost(open), isStopped(), earlyMillis(), maxEarlyMillis);
  }

  long earlyMillis() {
    return dueMillis - context.nowMillis();
  }

  private boolean isStopped() {
    return stopped
        || isStopped(record)
        || holder.isClosed()
        || !context.pauseGate().admits(record.key().namespace(), pausesBeforeClaim)
        || !context.store().isLive();
  }

  /**
   * Decides whether it begins on a thread, even if the clock has gone back since it was due. Called
   * under the lock of its attempts.
   */
  boolean begin() {
    return AttemptStart.decide(false, isStopped(), 0, 0) == AttemptStart.NOW;
  }

  /** Prevents it from beginning, if it has not begun. */
  void stop() {
    stopped = true;
  }

  void recordLoss() {
    end(
        () ->
            record(context.rule().exhausted(open, "all attempts were lost with their processes")));
  }

  /**
   * Gives the attempt back. The attempt does not count. The run begins again, but not before its
   * time.
   */
  void giveBack() {
    long againMillis = context.nowMillis() + (context.store().isLive() ? 0 : NOT_LIVE_WAIT_MILLIS);
    // The record of a leased timer contains the expiry of the lease instead of its time.
    long fromMillis = isLeased() ? againMillis : Math.max(againMillis, record.fireAt());
    end(() -> record(context.rule().givenBack(open, fromMillis)));
  }

  /** Notes that it was submitted to the executor of handlers. */
  void handed() {
    handedAtMillis = context.nowMillis();
  }

  /** Notes that a thread has taken it from the executor, or that the executor has rejected it. */
  void taken() {
    handedAtMillis = NOT_HANDED;
  }

  /** Returns whether no thread has begun it for a long time. */
  boolean mayBeDropped(long nowMillis) {
    return nowMillis - handedAtMillis > DROPPED_MILLIS;
  }

  @Override
  public void run() {
    taken();
    if (!attempts.begins(this)) {
      giveBack();
    } else if (config.handler() instanceof AsyncHandler handler) {
      try {
        start(handler);
      } catch (Throwable e) {
        end(() -> record(context.rule().exhausted(open, call.text(e))));
      }
    } else {
      end(this::attempt);
    }
  }

  // The attempt

  /** Counts the begin. */
  AttemptFiring began() {
    long nowMillis = context.nowMillis();
    context.health().counters.fired.increment();
    context.health().counters.lag.record(open.lagMillis(nowMillis));
    return new AttemptFiring(record, nowMillis, context.policy().isCatchUp(record));
  }

  /** Checks the next run first, so that the handler has no effects that could not be recorded. */
  AttemptEnd success() {
    return context.rule().succeeded(open);
  }

  private void attempt() {
    AttemptFiring firing = began();
    Throwable error = null;
    Object event = null;
    try {
      AttemptEnd unused = success();
      event = beginsHere();
      config.handler().handle(firing);
    } catch (Throwable e) {
      error = e;
    }
    boolean late = endsHere(firing, event, error);
    recordEnd(firing, late && error == null ? new InterruptedException() : error);
  }

  /** Begins a call of the handler on this thread. {@return the event for {@link #endsHere}} */
  @Nullable Object beginsHere() {
    call.begin();
    return Events.attemptBegins();
  }

  /** Ends a call of the handler. Returns whether the timeout was exceeded. */
  boolean endsHere(AttemptFiring firing, @Nullable Object event, @Nullable Throwable error) {
    boolean late = call.endThread();
    callEnded(firing, event, error);
    return late;
  }

  private void callEnded(AttemptFiring firing, @Nullable Object event, @Nullable Throwable error) {
    call.endLimit();
    long lagMillis = open.lagMillis(firing.firedAt().toEpochMilli());
    Events.attemptEnded(event, record, config.name(), lagMillis, error);
  }

  /** Starts an asynchronous handler. If this throws, the handler has not begun. */
  private void start(AsyncHandler handler) {
    AttemptFiring firing = began();
    Object event = Events.attemptBegins();
    PendingStage stage =
        new PendingStage(
            attempts::execute,
            error ->
                end(
                    () -> {
                      callEnded(firing, event, error);
                      recordEnd(firing, error);
                    }));
    call.waitFor(stage);
    CompletionStage<?> started = null;
    Throwable error = null;
    try {
      AttemptEnd unused = success();
      call.begin();
      started = handler.start(firing);
    } catch (Throwable e) {
      error = e;
    }
    boolean late = call.endThread();
    if (error != null) {
      stage.giveUp(error);
    } else {
      stage.waitFor(started);
    }
    if (late) {
      stage.giveUp(new TimeoutException());
    }
  }

  // The end

  /** Records an outcome and frees the concurrency slot, once, even if the recording throws. */
  private void end(Runnable recording) {
    if (!endsFirst()) {
      return;
    }
    try {
      recordSafely(recording);
    } finally {
      attempts.ended(this); // last: an idle queue has passed all outcomes to the committer
    }
  }

  /** Records an outcome once. The end of the call frees the concurrency slot. */
  void endInCall(Runnable recording) {
    if (endsFirst()) {
      recordSafely(recording);
    }
  }

  private synchronized boolean endsFirst() {
    boolean first = !ended;
    ended = true;
    return first;
  }

  /**
   * Records an outcome. If it cannot be determined, the timer fails, so that an operator sees it.
   */
  private void recordSafely(Runnable recording) {
    try {
      recording.run();
    } catch (Throwable e) {
      LOG.log(System.Logger.Level.ERROR, "the end of an attempt of " + record.key(), e);
      record(context.rule().exhausted(open, call.text(e)));
    }
  }

  private void record(AttemptEnd end) {
    context.ends().record(holder, end);
  }

  /** Accepts the outcome of an end that the handler has recorded itself. */
  void recorded(AttemptEnd end, Outcome outcome) {
    context.ends().recorded(holder, end, outcome);
  }

  void recordEnd(AttemptFiring firing, @Nullable Throwable error) {
    AttemptFiring.Decision decision = firing.decision();
    Instant back = firing.backNotBefore();
    if (back != null) {
      record(context.rule().givenBack(open, EpochMillis.ceil(back)));
    } else if (error != null) {
      failed(error, firing.retryWaitMillis(context.nowMillis()));
    } else if (decision == null) {
      record(success());
    } else if (decision.again() != null) {
      record(postponed(firing, success(), decision.again()));
    } else {
      record(context.rule().exhausted(open, decision.reason()));
    }
  }

  /**
   * {@return the end of an attempt that postpones its run} The schedule does not change. Runs that
   * are missed because of it are counted when the schedule drops them, not each time the run is
   * postponed.
   */
  AttemptEnd postponed(AttemptFiring firing, AttemptEnd success, Instant again) {
    return new AttemptEnd(
        firing.rescheduled(success.change(), again),
        record.isScheduledRun() ? success.dropped() : 0);
  }

  private void failed(Throwable error, long waitMillis) {
    AttemptEnd end = context.rule().failed(open, call.text(error), waitMillis);
    record(new AttemptEnd(end.change().withTrace(trace(error, end.change())), end.dropped()));
  }

  /** Logs a failure. Returns its stack trace for the store; null if it has none. */
  private @Nullable String trace(Throwable error, Change.Finish end) {
    try {
      OptionalLong retryAt =
          end.end() == Change.Finish.End.FAILED
              ? OptionalLong.of(end.nextAt())
              : OptionalLong.empty();
      String text = requireNonNull(end.error());
      context.health().failures.failed(config.handler(), record, error, text, retryAt);
      return FailureLog.trace(error);
    } catch (Throwable e) {
      return null; // the exception is code of the application, too
    }
  }
}
