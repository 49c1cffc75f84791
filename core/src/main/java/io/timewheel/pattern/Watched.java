// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import io.timewheel.Timeout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * A connection with one timeout for both directions.
 *
 * <p>The times of the last messages are opaque: they carry nothing else with them. The times from
 * which idleness counts are written by whoever runs the timeout, which is filed anew only after
 * that.
 *
 * @param <K> the type of the key
 */
final class Watched<K> extends Filed implements Heartbeats.Connection {
  private static final int READ = 1;
  private static final int WRITE = 2;

  private static final VarHandle READ_NANOS;
  private static final VarHandle WRITTEN_NANOS;
  private static final VarHandle BUSY;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      READ_NANOS = lookup.findVarHandle(Watched.class, "readNanos", long.class);
      WRITTEN_NANOS = lookup.findVarHandle(Watched.class, "writtenNanos", long.class);
      BUSY = lookup.findVarHandle(Watched.class, "busy", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final Heartbeats<K> owner;
  final K key;

  @SuppressWarnings("unused") // read and written through READ_NANOS
  private long readNanos;

  @SuppressWarnings("unused") // read and written through WRITTEN_NANOS
  private long writtenNanos;

  /** Which callbacks run or are about to; read and written through BUSY. */
  @SuppressWarnings("unused")
  private volatile int busy;

  /** When the callback was last due, or the connection was added. */
  private long readIdleFromNanos;

  private long writeIdleFromNanos;

  Watched(Heartbeats<K> owner, K key, long nowNanos, double part) {
    this.owner = owner;
    this.key = key;
    readNanos = nowNanos;
    readIdleFromNanos = nowNanos;
    // As if it had been idle already for the other part of its time.
    double idlePart = owner.writeIdleNanos == Long.MAX_VALUE ? 0 : 1 - part;
    writeIdleFromNanos = nowNanos - (long) (owner.writeIdleNanos * idlePart);
    writtenNanos = writeIdleFromNanos;
  }

  @Override
  public void read() {
    READ_NANOS.setOpaque(this, owner.clock.nanos());
  }

  @Override
  public void written() {
    WRITTEN_NANOS.setOpaque(this, owner.clock.nanos());
  }

  @Override
  public void close() {
    owner.close(this);
  }

  void start() {
    long nowNanos = owner.clock.nanos();
    file(owner.timer, Math.min(readRemaining(nowNanos), writeRemaining(nowNanos)));
  }

  /** A message may be newer than the time that was read before; an unset time must not overflow. */
  private static long remaining(long idleNanos, long nowNanos, long fromNanos) {
    return idleNanos - Math.max(0, nowNanos - fromNanos);
  }

  private long readRemaining(long nowNanos) {
    return remaining(
        owner.readIdleNanos,
        nowNanos,
        Math.max((long) READ_NANOS.getOpaque(this), readIdleFromNanos));
  }

  private long writeRemaining(long nowNanos) {
    return remaining(
        owner.writeIdleNanos,
        nowNanos,
        Math.max((long) WRITTEN_NANOS.getOpaque(this), writeIdleFromNanos));
  }

  @Override
  public void run(Timeout timeout) {
    long nowNanos = owner.clock.nanos();
    boolean readIdle = readRemaining(nowNanos) <= 0;
    boolean writeIdle = writeRemaining(nowNanos) <= 0;
    if (readIdle) {
      readIdleFromNanos = nowNanos;
    }
    if (writeIdle) {
      writeIdleFromNanos = nowNanos;
    }
    try {
      start();
    } catch (Throwable e) {
      owner.close(this);
      owner.errors.handle(e);
    }
    if (readIdle) {
      call(READ, owner.onReadIdle);
    }
    if (writeIdle) {
      call(WRITE, owner.onWriteIdle);
    }
  }

  /** By the stopping timer; our own cancellations have settled it before. */
  @Override
  public void cancelled(Timeout timeout) {
    owner.close(this);
  }

  private void call(int which, Consumer<? super K> callback) {
    if (isSettled() || ((int) BUSY.getAndBitwiseOr(this, which) & which) != 0) {
      return;
    }
    // The executor may run what it then rejects: a beat begins once, or is skipped.
    AtomicBoolean begun = new AtomicBoolean();
    try {
      owner.executor.execute(
          () -> {
            if (begun.compareAndSet(false, true)) {
              if (!isSettled()) {
                owner.errors.run(() -> callback.accept(key));
              }
              done(which);
            }
          });
    } catch (Throwable e) {
      if (begun.compareAndSet(false, true)) {
        done(which);
      }
      owner.errors.handle(e);
    }
  }

  private void done(int which) {
    BUSY.getAndBitwiseAnd(this, ~which);
  }
}
