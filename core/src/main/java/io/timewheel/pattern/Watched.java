// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import io.timewheel.Timeout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A connection with one timeout for all its alarms.
 *
 * <p>The times of the last messages are opaque: they publish nothing else. The run of the timeout
 * writes the times from which idleness counts, before it re-arms.
 *
 * <h2>Calls</h2>
 *
 * For each direction, the call of the callback is in one of three states. It is not due (0). Or it
 * was offered to the executor and has not begun: then the state is the number of times that the
 * alarm was due, from 1. Or it is running. Each firing of the timeout counts; the executor begins
 * and ends calls. When a call begins, it checks again whether it is needed, because a message may
 * have arrived while it waited for the executor.
 *
 * @param <K> the type of the key
 */
final class Watched<K> extends TimedEntry implements Heartbeats.Connection<K> {
  private static final int IDLE = 0;
  private static final int RUNNING = 0xFF;

  /**
   * The maximum count of offers that have not begun. Above it, the count continues from half of
   * this number.
   */
  private static final int MAX_COUNT = 0x80;

  private static final VarHandle READ_NANOS;
  private static final VarHandle WRITTEN_NANOS;
  private static final VarHandle CALLS;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      READ_NANOS = lookup.findVarHandle(Watched.class, "readNanos", long.class);
      WRITTEN_NANOS = lookup.findVarHandle(Watched.class, "writtenNanos", long.class);
      CALLS = lookup.findVarHandle(Watched.class, "calls", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final Heartbeats<K> owner;
  private final K key;

  @SuppressWarnings("unused") // read and written through READ_NANOS
  private long readNanos;

  @SuppressWarnings("unused") // read and written through WRITTEN_NANOS
  private long writtenNanos;

  /** The state of the calls, a byte for each direction; read and written through CALLS. */
  @SuppressWarnings("unused")
  private volatile int calls;

  // The times when each callback was last due, or when the connection was added.
  private long readIdleFromNanos;
  private long writeIdleFromNanos;
  private long allIdleFromNanos;

  Watched(Heartbeats<K> owner, K key, double part) {
    this.owner = owner;
    this.key = key;
    long nowNanos = owner.clock.nanoTime();
    readNanos = nowNanos;
    readIdleFromNanos = nowNanos;
    allIdleFromNanos = nowNanos;
    // As if the connection had already been idle for the other part of its time.
    long writeIdleNanos = owner.writeIdle.idleNanos();
    double idlePart = writeIdleNanos == NEVER ? 0 : 1 - part;
    writeIdleFromNanos = nowNanos - (long) (writeIdleNanos * idlePart);
    writtenNanos = writeIdleFromNanos;
  }

  @Override
  public K key() {
    return key;
  }

  @Override
  public void read() {
    READ_NANOS.setOpaque(this, owner.clock.nanoTime());
  }

  @Override
  public void written() {
    WRITTEN_NANOS.setOpaque(this, owner.clock.nanoTime());
  }

  @Override
  public void close() {
    owner.forget(this);
  }

  /** Starts the timeout. Throws the exceptions of the timer. */
  void start() {
    start(owner.timer, this::delayNanos);
  }

  private long delayNanos() {
    long nowNanos = owner.clock.nanoTime();
    long readOrWrite =
        Math.min(
            remainingNanos(owner.readIdle, nowNanos), remainingNanos(owner.writeIdle, nowNanos));
    return Math.min(readOrWrite, remainingNanos(owner.allIdle, nowNanos));
  }

  private long remainingNanos(Heartbeats.Alarm<K> alarm, long nowNanos) {
    long fromNanos =
        switch (alarm.direction()) {
          case READ -> readIdleFromNanos;
          case WRITE -> writeIdleFromNanos;
          case ALL -> allIdleFromNanos;
        };
    return alarm.idleNanos() - Math.min(silentNanos(alarm, nowNanos), nowNanos - fromNanos);
  }

  /** Returns the time since the last message, which may be newer than {@code nowNanos}. */
  private long silentNanos(Heartbeats.Alarm<K> alarm, long nowNanos) {
    long sinceRead = Math.max(0, nowNanos - (long) READ_NANOS.getOpaque(this));
    long sinceWritten = Math.max(0, nowNanos - (long) WRITTEN_NANOS.getOpaque(this));
    return switch (alarm.direction()) {
      case READ -> sinceRead;
      case WRITE -> sinceWritten;
      case ALL -> Math.min(sinceRead, sinceWritten);
    };
  }

  @Override
  void fired() {
    long nowNanos = owner.clock.nanoTime();
    boolean readIdle = remainingNanos(owner.readIdle, nowNanos) <= 0;
    boolean writeIdle = remainingNanos(owner.writeIdle, nowNanos) <= 0;
    boolean allIdle = remainingNanos(owner.allIdle, nowNanos) <= 0;
    readIdleFromNanos = readIdle ? nowNanos : readIdleFromNanos;
    writeIdleFromNanos = writeIdle ? nowNanos : writeIdleFromNanos;
    allIdleFromNanos = allIdle ? nowNanos : allIdleFromNanos;
    if (!rearm(this::delayNanos)) {
      owner.forget(this); // the timer is stopped
    }
    if (readIdle) {
      call(owner.readIdle);
    }
    if (writeIdle) {
      call(owner.writeIdle);
    }
    if (allIdle) {
      call(owner.allIdle);
    }
  }

  /** Called by a timer that stops. Cancellations by this class have settled the entry before. */
  @Override
  public void cancelled(Timeout timeout) {
    owner.forget(this);
  }

  private void call(Heartbeats.Alarm<K> alarm) {
    int before = countOffer(alarm);
    if (isSettled() || before == RUNNING || !isToBeOffered(before)) {
      return;
    }
    try {
      owner.executor.execute(() -> begin(alarm));
    } catch (Throwable e) {
      if (change(alarm, 1, IDLE)) { // otherwise, it runs or was offered before
        owner.errors.handle(key, e);
      }
    }
  }

  private void begin(Heartbeats.Alarm<K> alarm) {
    int offered = state(alarm);
    while (offered != IDLE && offered != RUNNING && !change(alarm, offered, RUNNING)) {
      offered = state(alarm);
    }
    if (offered == IDLE || offered == RUNNING) {
      return; // it was offered twice, and has begun before
    }
    long silentNanos = silentNanos(alarm, owner.clock.nanoTime());
    if (!isSettled() && silentNanos >= alarm.idleNanos()) {
      owner.errors.run(key, () -> alarm.callback().accept(this));
    }
    change(alarm, RUNNING, IDLE);
  }

  // The states of the calls

  private int state(Heartbeats.Alarm<K> alarm) {
    return (calls >>> alarm.direction().shift) & 0xFF;
  }

  private boolean change(Heartbeats.Alarm<K> alarm, int from, int to) {
    int shift = alarm.direction().shift;
    int all = calls;
    while (((all >>> shift) & 0xFF) == from) {
      int changed = (all & ~(0xFF << shift)) | (to << shift);
      if (CALLS.compareAndSet(this, all, changed)) {
        return true;
      }
      all = calls;
    }
    return false;
  }

  /** Counts one more offer, unless the call is running. Returns the state before. */
  private int countOffer(Heartbeats.Alarm<K> alarm) {
    int before = state(alarm);
    while (before != RUNNING
        && !change(alarm, before, before == MAX_COUNT ? MAX_COUNT / 2 + 1 : before + 1)) {
      before = state(alarm);
    }
    return before;
  }
}
