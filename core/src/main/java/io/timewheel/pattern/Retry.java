// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import io.timewheel.Timeout;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A key that is tried until it is removed from the map, one attempt at a time. Its timeout is
 * pending from beginning to end, even while an attempt runs. So the timer's limit can refuse no
 * attempt, and a time limit can end the attempt.
 *
 * <p>The next step is decided under the entry's own lock, under which no user code runs.
 *
 * @param <K> the type of the key
 */
final class Retry<K> extends TimedEntry {
  private enum Phase {
    /** The attempt waits for its time, or was handed over and has not begun. */
    WAITING,
    RUNNING,
    /** The attempt has ended, and its outcome is being evaluated. */
    ENDED
  }

  /**
   * The time after which this class assumes that the executor may have dropped a task that has not
   * begun.
   */
  private static final long OFFER_INTERVAL_NANOS = 1_000_000_000;

  private static final long MAX_OFFER_WAIT_NANOS = 60 * OFFER_INTERVAL_NANOS;

  /** The maximum number of doublings: enough to exceed the longest interval between two offers. */
  private static final int MAX_DOUBLINGS = 6;

  final Retries<K> owner;
  final K key;

  /** The reading of the clock after which no attempt is due. */
  private final long giveUpNanos;

  // All fields below are guarded by this.
  private Phase phase = Phase.WAITING;
  private int attempt = 1;

  /**
   * The number of times that the current attempt, or its failure by timeout, was offered to the
   * executor.
   */
  private int offers;

  /** The reading of the clock at which the next step is due. */
  private long nextNanos;

  Retry(Retries<K> owner, K key, long nowNanos, long limitNanos) {
    this.owner = owner;
    this.key = key;
    giveUpNanos = nowNanos + limitNanos;
    nextNanos = nowNanos + NEVER;
  }

  /** Returns the number of the current attempt, or the next one. */
  synchronized int attempt() {
    return attempt;
  }

  /** Returns whether a delay would end after the time limit of the key. */
  boolean isTooLate(long delayNanos) {
    return delayNanos > giveUpNanos - owner.clock.nanoTime();
  }

  /** Starts the wait for the first attempt. Throws the exceptions of the timer. */
  void start(long delayNanos) {
    waitFor(delayNanos);
    start(owner.timer, this::delayNanos);
  }

  /** Starts the wait for the next attempt. */
  void next(long delayNanos) {
    synchronized (this) {
      attempt++;
      offers = 0;
      phase = Phase.WAITING;
    }
    waitFor(delayNanos);
    hasten(delayNanos);
  }

  private synchronized void waitFor(long delayNanos) {
    nextNanos = owner.clock.nanoTime() + delayNanos;
  }

  private synchronized long delayNanos() {
    return Math.max(0, nextNanos - owner.clock.nanoTime());
  }

  @Override
  void fired() {
    // If the retry is not in the map yet, check again later, unless it is settled by then.
    Runnable due = owner.isTrying(this) ? due() : null;
    rearm(this::delayNanos);
    if (due != null) {
      handOver(due);
    }
  }

  /**
   * Returns the task to hand over now; null if there is none. Prepares to offer it again, in case
   * it is dropped.
   */
  private synchronized @Nullable Runnable due() {
    if (delayNanos() > 0 || phase == Phase.ENDED) {
      return null;
    }
    waitFor(
        Math.min(OFFER_INTERVAL_NANOS << Math.min(offers++, MAX_DOUBLINGS), MAX_OFFER_WAIT_NANOS));
    int number = attempt;
    return phase == Phase.WAITING ? () -> begin(number) : () -> timeOut(number);
  }

  private void handOver(Runnable due) {
    try {
      owner.executor.execute(due);
    } catch (Throwable e) {
      if (isWaiting()) { // otherwise, the executor ran it after all
        owner.rejected(this, e);
      }
    }
  }

  private synchronized boolean isWaiting() {
    return phase == Phase.WAITING;
  }

  /** Returns whether the time limit of the key has passed. */
  synchronized boolean isOver() {
    return giveUpNanos - nextNanos < 0;
  }

  private void begin(int number) {
    if (isSettled() || !change(number, Phase.WAITING, Phase.RUNNING)) {
      return;
    }
    long begunNanos = owner.clock.nanoTime();
    waitFor(owner.attemptLimitNanos);
    hasten(owner.attemptLimitNanos);
    try {
      CompletionStage<?> stage = owner.attempt.begin(key, number);
      // Do not use whenComplete: it would unnecessarily wrap the error of every failed attempt.
      stage.handle((result, error) -> ended(number, begunNanos, error));
    } catch (Throwable e) {
      ended(number, begunNanos, e);
    }
  }

  /**
   * Records the outcome of an attempt. It is a timeout if it arrives after the limit, even if the
   * executor had no thread to end the attempt earlier.
   */
  private boolean ended(int number, long begunNanos, @Nullable Throwable error) {
    boolean late = owner.clock.nanoTime() - begunNanos > owner.attemptLimitNanos;
    return late ? timeOut(number) : ended(number, error);
  }

  private boolean timeOut(int number) {
    return ended(number, new TimeoutException("attempt " + number + " took too long"));
  }

  /**
   * Records the outcome. Returns whether the attempt had not ended before: a stage may complete
   * twice.
   */
  private boolean ended(int number, @Nullable Throwable error) {
    boolean first = change(number, Phase.RUNNING, Phase.ENDED);
    if (first) {
      if (error == null) {
        owner.succeeded(this);
      } else {
        owner.failed(this, Errors.causeOf(error));
      }
    }
    return first;
  }

  private synchronized boolean change(int number, Phase from, Phase to) {
    boolean changes = attempt == number && phase == from;
    if (changes) {
      phase = to;
      offers = 0;
      nextNanos = owner.clock.nanoTime() + NEVER;
    }
    return changes;
  }

  /**
   * Called by a timer that stops, unless this retry is settled. A running attempt may still
   * succeed.
   */
  @Override
  public void cancelled(Timeout timeout) {
    if (isWaiting()) {
      owner.take(this);
    }
  }
}
