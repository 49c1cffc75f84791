// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import static java.util.Objects.requireNonNull;

import io.timewheel.Timeout;
import io.timewheel.durable.internal.due.ClaimHolder;
import io.timewheel.durable.internal.due.Shard;
import io.timewheel.durable.internal.health.Events;
import io.timewheel.durable.internal.health.FailureLog;
import io.timewheel.durable.internal.health.GuardedLog;
import io.timewheel.durable.internal.time.EpochMillis;
import io.timewheel.durable.internal.time.NextRun;
import io.timewheel.durable.model.AsyncHandler;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.Claim;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.TimerRecord;
import java.time.Instant;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Runs one claimed attempt: calls the handler and records the outcome. */
public final class AttemptRun implements AttemptTask, Runnable {
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
  private final TimerRecord record;
  private final Claim claim;
  private long handedAtMillis = NOT_HANDED;
  private @Nullable Thread thread;
  private volatile @Nullable Timeout limit;
  private boolean outOfTime;
  private boolean ended;

  /** The stage of an asynchronous attempt. */
  private volatile @Nullable PendingStage pending;

  /** The number of pauses before the claim of this attempt. A later pause prevents its start. */
  private final long pausesBeforeClaim;

  /** True if the attempt must not begin, although the executor may still run its task. */
  private volatile boolean stopped;

  AttemptRun(
      AttemptContext context,
      HandlerAttempts attempts,
      HandlerQueue.Config config,
      ClaimHolder holder,
      TimerRecord record,
      long pausesBeforeClaim) {
    this.context = context;
    this.attempts = attempts;
    this.config = config;
    this.holder = holder;
    this.record = record;
    this.claim = requireNonNull(record.claim(), "claim");
    this.pausesBeforeClaim = pausesBeforeClaim;
  }

  public boolean isOf(Shard owned) {
    return holder == owned;
  }

  /** Returns whether its shard was given away or its claim lease has expired. */
  boolean isHolderClosed() {
    return holder.isClosed();
  }

  String handler() {
    return config.name();
  }

  /** Returns whether it was leased from a shard of another node. */
  boolean isLeased() {
    return claim.until() != TimerRecord.NEVER;
  }

  public boolean isOf(String namespace) {
    return record.key().namespace().equals(namespace);
  }

  /** Returns whether a later record of the timer still contains the claim of this attempt. */
  public boolean isClaimOf(TimerRecord later) {
    Claim open = later.claim();
    return open != null && open.token().equals(claim.token()) && later.key().equals(record.key());
  }

  /** Returns whether all attempts were lost with their processes. */
  boolean isExhausted() {
    return claim.attempt() > record.definition().retry().maxAttempts();
  }

  void recordLoss() {
    end(() -> exhausted("all attempts were lost with their processes"));
  }

  // Before the attempt begins

  @Override
  public void handOver(Executor executor) {
    handed();
    executor.execute(this);
  }

  synchronized void handed() {
    handedAtMillis = context.nowMillis();
  }

  @Override
  public List<AttemptRun> takeBack() {
    return take() ? List.of(this) : List.of();
  }

  /**
   * Takes the attempt from the executor, either to begin it or because the executor has rejected
   * it. Returns false if the other case came first.
   */
  synchronized boolean take() {
    boolean back = handedAtMillis != NOT_HANDED;
    handedAtMillis = NOT_HANDED;
    return back;
  }

  /** Returns whether no thread has begun it for a long time. */
  synchronized boolean mayBeDropped(long nowMillis) {
    return handedAtMillis != NOT_HANDED && nowMillis - handedAtMillis > DROPPED_MILLIS;
  }

  @Override
  public void run() {
    if (!take()) {
      return;
    }
    if (!attempts.begins(this)) {
      giveBackUnbegun();
    } else if (config.handler() instanceof AsyncHandler handler) {
      try {
        start(handler);
      } catch (Throwable e) {
        end(() -> exhausted(text(e)));
      }
    } else {
      end(this::attempt);
    }
  }

  /** Gives it back, because its queue has not let it begin. */
  void giveBackUnbegun() {
    giveBack(context.nowMillis() + (context.store().isLive() ? 0 : NOT_LIVE_WAIT_MILLIS));
  }

  /** Prevents it from beginning, if it has not begun. */
  void stop() {
    stopped = true;
  }

  /** Decides whether it may begin. Called under the lock of its queue. */
  boolean begin() {
    return !stopped
        && !holder.isClosed()
        && context.pauseGate().admits(record.key().namespace(), pausesBeforeClaim)
        && context.store().isLive();
  }

  // The attempt

  /**
   * Returns how late it begins, in milliseconds. The record of a leased timer no longer contains
   * its fire time. A first attempt counts from its scheduled time, and a retry from its claim.
   */
  private long lagMillis(long nowMillis) {
    long dueMillis = record.fireAt();
    if (isLeased()) {
      dueMillis =
          claim.attempt() == 1
              ? Math.max(claim.scheduledAt(), record.createdAt())
              : claim.beganAt();
    }
    return Math.max(0, nowMillis - dueMillis);
  }

  /** Counts the begin. */
  AttemptFiring began() {
    long nowMillis = context.nowMillis();
    context.health().counters.fired.increment();
    context.health().counters.lag.record(lagMillis(nowMillis));
    return new AttemptFiring(record, nowMillis, context.policy().isCatchUp(record));
  }

  private void attempt() {
    AttemptFiring firing = began();
    Throwable error = null;
    Object event = null;
    try {
      // First, so that the handler has no effects that could not be recorded.
      NextRun unused = context.policy().nextRun(record, claim);
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
    beginThread();
    return Events.attemptBegins();
  }

  /** Ends a call of the handler. Returns whether the timeout was exceeded. */
  boolean endsHere(AttemptFiring firing, @Nullable Object event, @Nullable Throwable error) {
    long lagMillis = lagMillis(firing.firedAt().toEpochMilli());
    Events.attemptEnded(event, record, config.name(), lagMillis, error);
    boolean late = endThread();
    endLimit();
    return late;
  }

  /** {@return the end that records a success} */
  AttemptEnd success() {
    return end(succeeded(), context.policy().nextRun(record, claim), null);
  }

  /** Accepts the outcome of an end that the handler has recorded itself. */
  void recorded(AttemptEnd end, Outcome outcome) {
    context.ends().recorded(end, outcome);
    holder.answered(record.key(), outcome);
  }

  /** Starts an asynchronous handler. If this throws, the handler has not begun. */
  private void start(AsyncHandler handler) {
    AttemptFiring firing = began();
    Object event = Events.attemptBegins();
    PendingStage stage =
        new PendingStage(attempts::execute, error -> end(() -> ended(firing, event, error)));
    pending = stage;
    CompletionStage<?> started = null;
    Throwable error = null;
    try {
      // First, so that the handler has no effects that could not be recorded.
      NextRun unused = context.policy().nextRun(record, claim);
      beginThread();
      started = handler.start(firing);
    } catch (Throwable e) {
      error = e;
    }
    boolean late = endThread();
    if (error != null) {
      stage.giveUp(error);
    } else {
      stage.waitFor(started);
    }
    if (late) {
      stage.giveUp(new TimeoutException());
    }
  }

  private void ended(AttemptFiring firing, @Nullable Object event, @Nullable Throwable error) {
    endLimit();
    long lagMillis = lagMillis(firing.firedAt().toEpochMilli());
    Events.attemptEnded(event, record, config.name(), lagMillis, error);
    recordEnd(firing, error);
  }

  /** Records an outcome and frees the concurrency slot, once, even if the recording throws. */
  private void end(Runnable recording) {
    if (!endsFirst()) {
      return;
    }
    try {
      record(recording);
    } finally {
      attempts.ended(this); // last: an idle queue has passed all outcomes to the committer
    }
  }

  /** Records an outcome once. The end of the call frees the concurrency slot. */
  void endInCall(Runnable recording) {
    if (endsFirst()) {
      record(recording);
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
  private void record(Runnable recording) {
    try {
      recording.run();
    } catch (Throwable e) {
      LOG.log(System.Logger.Level.ERROR, "the end of an attempt of " + record.key(), e);
      record(Change.Finish.End.EXHAUSTED, new NextRun(TimerRecord.NONE, 0), text(e));
    }
  }

  void recordEnd(AttemptFiring firing, @Nullable Throwable error) {
    AttemptFiring.Decision decision = firing.decision();
    Instant back = firing.backNotBefore();
    if (back != null) {
      record(Change.Finish.End.GIVEN_BACK, new NextRun(EpochMillis.ceil(back), 0), null);
    } else if (error != null) {
      failed(error, firing.earliestRetry());
    } else if (decision == null) {
      record(succeeded(), context.policy().nextRun(record, claim), null);
    } else if (decision.again() != null) {
      context.ends().record(holder, postponed(firing, success(), decision.again()));
    } else {
      exhausted(decision.reason());
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

  private void failed(Throwable error, @Nullable Instant notBefore) {
    OptionalLong retryAt = context.retries().next(record, claim, askedMillis(notBefore));
    String text = text(error);
    AttemptEnd end =
        retryAt.isEmpty()
            ? end(Change.Finish.End.EXHAUSTED, context.policy().nextRun(record, claim), text)
            : end(Change.Finish.End.FAILED, new NextRun(retryAt.getAsLong(), 0), text);
    String trace = trace(error, requireNonNull(end.change().error()), retryAt);
    context.ends().record(holder, new AttemptEnd(end.change().withTrace(trace), end.dropped()));
  }

  /** Logs a failure. Returns its stack trace for the store; null if it has none. */
  private @Nullable String trace(Throwable error, String text, OptionalLong retryAt) {
    try {
      context.health().failures.failed(config.handler(), record, error, text, retryAt);
      return FailureLog.trace(error);
    } catch (Throwable e) {
      return null; // the exception is code of the application, too
    }
  }

  private long askedMillis(@Nullable Instant notBefore) {
    if (notBefore == null) {
      return 0;
    }
    long millis = EpochMillis.saturatedSubtract(EpochMillis.ceil(notBefore), context.nowMillis());
    return Math.min(millis, RetryPolicy.MAX_WAIT.toMillis());
  }

  private void exhausted(String error) {
    record(Change.Finish.End.EXHAUSTED, context.policy().nextRun(record, claim), error);
  }

  /**
   * Gives the attempt back. The attempt does not count. The run begins again, but not before its
   * time.
   */
  void giveBack(long againMillis) {
    // The record of a leased timer contains the expiry of the lease instead of its time.
    NextRun again =
        new NextRun(isLeased() ? againMillis : Math.max(againMillis, record.fireAt()), 0);
    end(() -> record(Change.Finish.End.GIVEN_BACK, again, null));
  }

  private void record(Change.Finish.End end, NextRun next, @Nullable String error) {
    context.ends().record(holder, end(end, next, error));
  }

  private AttemptEnd end(Change.Finish.End end, NextRun next, @Nullable String error) {
    return new AttemptEnd(
        new Change.Finish(
            record.key(),
            claim.token(),
            claim.epoch(),
            end,
            next.atMillis(),
            TimerRecord.NEVER,
            error,
            null,
            record,
            null,
            context.nowMillis()),
        next.dropped());
  }

  private static Change.Finish.End succeeded() {
    return Change.Finish.End.SUCCEEDED;
  }

  // Interrupting the handler's thread or cancelling its stage, at a timeout or at the close of the
  // engine

  private void beginThread() {
    synchronized (this) {
      thread = Thread.currentThread();
    }
    if (config.timeLimit() != null) {
      limit = context.delays().start(this::timeIsUp, config.timeLimit());
    }
  }

  /** Returns whether the timeout was exceeded, and clears the interrupt that it has caused. */
  private synchronized boolean endThread() {
    thread = null;
    if (outOfTime) {
      Thread.interrupted();
    }
    return outOfTime;
  }

  private void endLimit() {
    Timeout started = limit;
    if (started != null) {
      started.cancel();
    }
  }

  private void timeIsUp() {
    synchronized (this) {
      outOfTime = thread != null || pending != null;
      if (thread != null) {
        thread.interrupt();
        return;
      }
    }
    giveUp(new TimeoutException());
  }

  private void giveUp(Exception why) {
    PendingStage stage = pending;
    if (stage != null) {
      stage.giveUp(why);
    }
  }

  /** Checks whether its stage has completed without a notification. */
  void look() {
    PendingStage stage = pending;
    if (stage != null) {
      stage.look();
    }
  }

  synchronized boolean isOn(Thread other) {
    return thread == other;
  }

  /** Ends the attempt after the shutdown timeout. */
  void interrupt() {
    synchronized (this) {
      if (thread != null) {
        thread.interrupt();
      }
    }
    giveUp(new CancellationException("the timer was closed"));
  }

  private String text(Throwable error) {
    boolean late;
    synchronized (this) {
      late = outOfTime;
    }
    return late ? "exceeded its time limit of " + config.timeLimit() : textOf(error);
  }

  private static String textOf(Throwable error) {
    try {
      return error.toString();
    } catch (Throwable e) {
      return error.getClass().getName(); // toString() is code of the application, too
    }
  }
}
