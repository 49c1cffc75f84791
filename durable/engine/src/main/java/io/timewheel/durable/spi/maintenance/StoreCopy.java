// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi.maintenance;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.spi.CopiedTimer;
import io.timewheel.durable.spi.TimerSink;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.Claim;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Writes timers into a store, in batches. Each batch is bounded in number and bytes, so the memory
 * that a copy needs does not depend on the number of timers. Attempts of handlers that were running
 * count as lost. One thread uses an instance.
 */
public final class StoreCopy implements TimerSink {
  /** Bounds the payloads of a batch. */
  private static final int MAX_BATCH_BYTES = 4 << 20;

  private final TimerStore store;
  private final LongConsumer progress;
  private final int maxBatch;
  private final List<CopiedTimer> batch = new ArrayList<>();
  private boolean begun;
  private long batchBytes;
  private long read;
  private long written;

  /**
   * Creates a copy that has written nothing yet.
   *
   * @param target the store to write to
   * @param progress called with the number of timers that were read, after each batch
   */
  public StoreCopy(TimerStore target, LongConsumer progress) {
    store = requireNonNull(target, "target");
    this.progress = requireNonNull(progress, "progress");
    maxBatch = target.traits().maxBatch();
  }

  /**
   * Copies all timers of a store into another one. A timer in the target is replaced only if it is
   * older, so a failed copy can be repeated.
   *
   * @param from the store to read
   * @param target the store to write to
   * @param progress called with the number of timers that were read, after each batch
   * @return the number of timers that were written
   * @throws IncompleteExportException at the end, if some timers cannot be read
   */
  public static long copy(TimerStore from, TimerStore target, LongConsumer progress) {
    StoreCopy copy = new StoreCopy(target, progress);
    from.copyTo(copy);
    return copy.written();
  }

  /** {@return whether the import into the target has begun, so that the target may lack timers} */
  public boolean hasBegun() {
    return begun;
  }

  /** {@return the number of timers that were written} */
  public long written() {
    return written;
  }

  @Override
  public void begin(long lastVersion, Set<String> paused) {
    store.beginImport(lastVersion, paused);
    begun = true;
  }

  @Override
  public void take(CopiedTimer timer) {
    batch.add(new CopiedTimer(withLostAttempts(timer.record()), timer.payloadHash()));
    batchBytes += timer.record().definition().payload().length;
    read++;
    if (batch.size() == maxBatch || batchBytes >= MAX_BATCH_BYTES) {
      write();
    }
  }

  @Override
  public void end() {
    if (!batch.isEmpty()) {
      write();
    }
    store.endImport();
  }

  private void write() {
    written += store.importTimers(List.copyOf(batch));
    batch.clear();
    batchBytes = 0;
    progress.accept(read);
  }

  /**
   * A consumer may still use its claim. The attempt of a handler is lost: its epoch is set below
   * all epochs of the store, and its token to one that no store issues.
   */
  private static TimerRecord withLostAttempts(TimerRecord record) {
    if (record.claim() == null && record.former() == null) {
      return record;
    }
    return record.copy().claim(lost(record.claim())).former(lost(record.former())).build();
  }

  @SuppressWarnings("NullAway") // it misses the annotation on the nested type of Claim's last part
  private static @Nullable Claim lost(@Nullable Claim claim) {
    if (claim == null) {
      return null;
    }
    ClaimToken token = claim.token();
    return new Claim(
        claim.until() == TimerRecord.NEVER
            ? new ClaimToken(token.high() | Long.MIN_VALUE, token.low())
            : token,
        claim.version(),
        claim.scheduledAt(),
        claim.attempt(),
        0,
        claim.beganAt(),
        claim.until(),
        claim.end());
  }
}
