// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import org.jspecify.annotations.Nullable;

/**
 * One of the independent parts of a timer: a lock, the wheel that it guards, and the counts of that
 * wheel's timeouts. A timeout stays in one stripe all its life.
 *
 * <p>The lock decides all races: the thread that takes it first runs, cancels or moves the timeout.
 */
final class Stripe extends StripeLock {
  /**
   * The maximum number of polls without progress per pending timeout. If there are more, the wheel
   * is corrupt.
   */
  private static final int FUTILE_POLLS = 64;

  /** The number of polls that may spend the wheel's budget before the next stripe is served. */
  private static final int SLICES = 16;

  final Engine engine;
  private final Wheel wheel;

  private boolean closed;
  private long started;
  private long rescheduled;
  private long expired;
  private long cancelled;

  /**
   * The next tick of the wheel, as of the last poll that returned null or the last {@link
   * #openAhead}. Only the thread that polls reads it.
   */
  private long idleUntilTick;

  /** True if that poll returned null because it yielded to other stripes. */
  private boolean cutShort;

  // Counts polls since the last one that found a timeout, or that established that none is due.
  private long futilePolls;
  private long mostFutilePolls;
  private long filedBefore;

  /** Keeps the memory that follows off the cache line of the fields above; see {@link Padding}. */
  @SuppressWarnings("unused")
  private @Nullable
  Object t00, t01, t02, t03, t04, t05, t06, t07, t10, t11, t12, t13, t14, t15, t16, t17;

  Stripe(Engine engine, Wheel wheel) {
    this.engine = engine;
    this.wheel = wheel;
  }

  /**
   * Links the code that runs under the lock, by running it once on a stripe made for this purpose;
   * see {@link StripeLock}.
   */
  static void rehearse(Stripe stripe) {
    WheelTimeout timeout = new WheelTimeout(nothing -> {}, stripe, 0);
    stripe.add(timeout, 0, 0);
    stripe.reschedule(timeout, 0, 0, 0);
    stripe.poll(0, WheelTimeout.EXPIRED);
    stripe.rearm(timeout, 0, 0, 0);
    stripe.openAhead(0);
    stripe.drainTo(new Drained(1));
    stripe.giveWay();
  }

  /**
   * Adds a timeout. Returns false and changes nothing if this stripe is closed.
   *
   * <p>Two threads that contend while both add have the same home, and would contend again. So one
   * of them moves to another home. A thread that contends with a cancel, a move or the timer thread
   * stays, because that is a coincidence. If it moved, later cancels of its timeouts would delay
   * the next thread on the old stripe.
   */
  boolean add(WheelTimeout timeout, long deadlineTick, long elapsedNanos) {
    long workTick = Ticks.NEVER;
    int found = lock(ADDING);
    try {
      if (found == ADDING) {
        engine.crowded();
      }
      if (closed) {
        return false;
      }
      if (wheel.add(timeout, deadlineTick, elapsedNanos)) {
        workTick = workTick();
      }
      started++;
    } finally {
      unlock();
    }
    wakeFor(workTick);
    return true;
  }

  /** Cancels a timeout of this stripe if it is pending. */
  boolean cancel(WheelTimeout timeout) {
    lock(OTHERS);
    try {
      if (!timeout.isPending()) {
        return false;
      }
      wheel.remove(timeout);
      timeout.settle(WheelTimeout.CANCELLED);
      cancelled++;
      return true;
    } finally {
      unlock();
    }
  }

  /** Moves a timeout of this stripe if it is pending. */
  boolean reschedule(
      WheelTimeout timeout, long deadlineNanos, long deadlineTick, long elapsedNanos) {
    long workTick = Ticks.NEVER;
    lock(OTHERS);
    try {
      if (!timeout.isPending()) {
        return false;
      }
      if (wheel.move(timeout, deadlineNanos, deadlineTick, elapsedNanos)) {
        workTick = workTick();
      }
      rescheduled++;
    } finally {
      unlock();
    }
    wakeFor(workTick);
    return true;
  }

  /**
   * Makes a timeout of this stripe pending again while its task runs. Returns false if this stripe
   * is closed.
   */
  boolean rearm(WheelTimeout timeout, long deadlineNanos, long deadlineTick, long elapsedNanos) {
    long workTick = Ticks.NEVER;
    lock(OTHERS);
    try {
      if (closed) {
        return false;
      }
      timeout.deadlineNanos(deadlineNanos);
      if (wheel.add(timeout, deadlineTick, elapsedNanos)) {
        workTick = workTick();
      }
      started++;
    } finally {
      unlock();
    }
    wakeFor(workTick);
    return true;
  }

  /**
   * Wakes the timer thread if it may have planned to sleep beyond a tick at which the wheel has
   * work.
   */
  private void wakeFor(long workTick) {
    if (workTick != Ticks.NEVER) {
      engine.wakeUp.dueAt(workTick, engine);
    }
  }

  /**
   * Takes a timeout that is due at {@code nowTick} and puts it in the given state. Returns null if
   * there is none, or if the search takes too long: see {@link #isCutShort}. Releases the lock
   * whenever the wheel's budget is spent.
   *
   * @throws IllegalStateException if the wheel is corrupt; otherwise a thread would poll it forever
   */
  @Nullable WheelTimeout poll(long nowTick, int takenState) {
    for (int slices = SLICES; ; ) {
      lock(POLLING);
      try {
        cutShort = false;
        if (closed) {
          idleUntilTick = Ticks.NEVER;
          return null;
        }
        WheelTimeout timeout = (WheelTimeout) wheel.poll(nowTick);
        if (timeout != null) {
          require(timeout.isPending(), "gives out a timeout twice");
          timeout.settle(takenState);
          expired++;
          futilePolls = 0;
          return timeout;
        }
        slices--;
        if (!wheel.cutShort || slices == 0) {
          cutShort = wheel.cutShort;
          lookAhead();
          return null;
        }
        countFutilePoll();
      } finally {
        unlock();
      }
      giveWay(); // the budget is spent
    }
  }

  /** Returns whether the last {@link #poll} that returned null has left work for the next one. */
  boolean isCutShort() {
    return cutShort;
  }

  /**
   * Prepares timeouts that will be due soon, for as long as a poll may take. Does nothing unless
   * the last {@link #poll} returned null and found such timeouts.
   */
  void openAhead(long nowTick) {
    for (int slices = SLICES; slices > 0 && idleUntilTick <= nowTick; slices--) {
      lock(POLLING);
      try {
        if (closed) {
          idleUntilTick = Ticks.NEVER;
          return;
        }
        wheel.openAhead();
        lookAhead();
      } finally {
        unlock();
      }
      giveWay();
    }
  }

  private void lookAhead() {
    idleUntilTick = workTick();
    if (idleUntilTick > wheel.nowTick) {
      futilePolls = 0;
    } else {
      countFutilePoll();
    }
  }

  /**
   * Fails if the wheel makes no progress. A futile poll passes over 64 timeouts, and passes over
   * each timeout at most a few times.
   */
  private void countFutilePoll() {
    long filed = started + rescheduled;
    if (futilePolls == 0) {
      filedBefore = filed;
      mostFutilePolls = FUTILE_POLLS * (1 + started - expired - cancelled);
    }
    futilePolls++;
    require(
        futilePolls <= mostFutilePolls + filed - filedBefore,
        "has something to do and makes no progress");
  }

  /** Returns {@link #nextTick} as of the last {@link #poll} that returned null. */
  long idleUntilTick() {
    return idleUntilTick;
  }

  /**
   * Returns the tick at which a poll next has something to do; tick 0 if it has something to do
   * now. A timeout is due now if the wheel has reached its tick. This holds even if the clock has
   * since fallen back, and other stripes never reached that tick.
   */
  long nextTick() {
    lock(OTHERS);
    try {
      if (closed) {
        return Ticks.NEVER;
      }
      return workTick();
    } finally {
      unlock();
    }
  }

  private long workTick() {
    long tick = wheel.nextTick();
    return tick > wheel.nowTick ? tick : 0;
  }

  /** Closes this stripe: from now on nothing is added and nothing expires. */
  void close() {
    lock(OTHERS);
    closed = true;
    unlock();
  }

  /** Cancels the pending timeouts. Releases the lock now and then, as {@link #poll} does. */
  void drainTo(Drained sink) {
    int before;
    do {
      before = sink.size();
      lock(POLLING);
      try {
        wheel.drain(sink, Wheel.POLL_BUDGET);
        cancelled += sink.size() - before;
      } finally {
        unlock();
      }
      giveWay();
    } while (sink.size() > before);
  }

  long pending() {
    lock(OTHERS);
    try {
      return started - expired - cancelled;
    } finally {
      unlock();
    }
  }

  /** Adds the counts of this stripe to those of others. */
  void addTo(Counts counts) {
    lock(OTHERS);
    try {
      counts.started += started;
      counts.rescheduled += rescheduled;
      counts.expired += expired;
      counts.cancelled += cancelled;
    } finally {
      unlock();
    }
  }

  private static void require(boolean sane, String complaint) {
    if (!sane) {
      throw new IllegalStateException("the wheel is corrupt: it " + complaint);
    }
  }

  /** Sums over the stripes of a timer. */
  static final class Counts {
    long started;
    long rescheduled;
    long expired;
    long cancelled;
  }
}
