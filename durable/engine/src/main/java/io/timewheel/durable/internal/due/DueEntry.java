// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

import io.timewheel.Timeout;
import io.timewheel.Timer;
import io.timewheel.TimerTask;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.DueTimer;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** An entry of a window: a record that is due soon. It is also its own task on the wheel. */
public final class DueEntry implements TimerTask {
  private static final AtomicLong TOKENS = new AtomicLong();

  public final DueTimer due;
  private final Window window;
  private final Shard shard;

  /**
   * The handler whose share of a window it uses. Timers of queues, and of handlers that this node
   * does not have, use the empty share together.
   */
  final String share;

  private @Nullable Timeout timeout;
  private volatile boolean dropped;

  DueEntry(Window window, Shard shard, DueTimer due, String share) {
    this.window = window;
    this.shard = shard;
    this.due = due;
    this.share = share;
  }

  public Shard shard() {
    return shard;
  }

  /**
   * Returns whether its timer is claimed ahead of its time. This requires that its handler runs on
   * this node. Other timers, and open attempts of other owners, are handled at their time.
   */
  boolean isClaimedAhead() {
    return !share.isEmpty() && due.state() != TimerState.RUNNING;
  }

  boolean isDropped() {
    return dropped;
  }

  @Override
  public void run(Timeout fired) {
    window.fired(this);
  }

  /** Removes the entry from its window to handle it. Returns false if it must not be handled. */
  boolean take() {
    return window.take(this);
  }

  /** Returns whether a record is the one from which this entry was created. */
  public boolean isCurrent(TimerRecord record) {
    return record.version() == due.version() && record.revision() == due.revision();
  }

  public Change.Begin claim(ClaimToken token, long scheduledAt, long nowMillis) {
    return new Change.Begin(
        due.key(), due.version(), due.revision(), shard.epoch, token, scheduledAt, nowMillis);
  }

  public Change.Skip skip(long nextMillis, long nowMillis) {
    return new Change.Skip(
        due.key(), due.version(), due.revision(), shard.epoch, nextMillis, nowMillis);
  }

  public ClaimToken newToken() {
    return new ClaimToken(shard.epoch, TOKENS.incrementAndGet());
  }

  // Called by its window, under the lock of the shard

  /** Starts a timeout for the entry on the wheel. Throws the exceptions of the wheel. */
  void arm(Timer wheel, long waitMillis) {
    timeout = wheel.newTimeout(this, waitMillis, TimeUnit.MILLISECONDS);
  }

  void rearm(long waitMillis) {
    if (timeout != null) {
      timeout.reschedule(waitMillis, TimeUnit.MILLISECONDS);
    }
  }

  /** Marks the entry as handed over, so that it no longer belongs to the window. */
  void taken() {
    dropped = true;
  }

  void drop() {
    dropped = true;
    if (timeout != null) {
      timeout.cancel();
    }
  }
}
