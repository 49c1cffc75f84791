// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

import io.timewheel.Timeout;
import io.timewheel.Timer;
import io.timewheel.TimerTask;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.ClaimToken;
import io.timewheel.durable.spi.DueTimer;
import io.timewheel.durable.spi.TimerRecord;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** A record that is due soon, in the window of its shard: its own task on the timer. */
public final class DueEntry implements TimerTask {
  private static final AtomicLong TOKENS = new AtomicLong();

  public final DueTimer due;
  private final Window window;
  private final Shard shard;
  private @Nullable Timeout timeout;
  private volatile boolean dropped;

  DueEntry(Window window, Shard shard, DueTimer due) {
    this.window = window;
    this.shard = shard;
    this.due = due;
  }

  public Shard shard() {
    return shard;
  }

  /** Whether it holds no longer. */
  boolean isDropped() {
    return dropped;
  }

  @Override
  public void run(Timeout fired) {
    window.fired(this);
  }

  /** Takes the entry out of its window, for its handling to begin; false if it is not to begin. */
  public boolean begin() {
    return window.begin(this);
  }

  /** Whether a record is the one that this entry was made from. */
  public boolean isCurrent(TimerRecord record) {
    return record.version() == due.version() && record.revision() == due.revision();
  }

  /** The change that claims the attempt for which it is due. */
  public Change.Begin claim(long scheduledAt, long nowMillis) {
    return new Change.Begin(
        due.key(),
        due.version(),
        due.revision(),
        shard.epoch,
        new ClaimToken(shard.epoch, TOKENS.incrementAndGet()),
        scheduledAt,
        nowMillis);
  }

  // By its window, under the lock of the shard

  /** Throws what the wheel throws. */
  void arm(Timer wheel, long waitMillis) {
    timeout = wheel.newTimeout(this, waitMillis, TimeUnit.MILLISECONDS);
  }

  void rearm(long waitMillis) {
    if (timeout != null) {
      timeout.reschedule(waitMillis, TimeUnit.MILLISECONDS);
    }
  }

  /** Its handling begins: it is no longer of the window. */
  void begun() {
    dropped = true;
  }

  void drop() {
    dropped = true;
    if (timeout != null) {
      timeout.cancel();
    }
  }
}
