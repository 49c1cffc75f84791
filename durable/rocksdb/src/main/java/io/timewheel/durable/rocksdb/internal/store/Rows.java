// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.store;

import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.rocksdb.internal.file.Batch;
import io.timewheel.durable.rocksdb.internal.file.Family;
import io.timewheel.durable.rocksdb.internal.format.Entries;
import io.timewheel.durable.rocksdb.internal.format.Keys;
import io.timewheel.durable.spi.format.ByteWriter;
import io.timewheel.durable.spi.format.RecordCodec;
import io.timewheel.durable.spi.format.RecordCodec.Stored;
import io.timewheel.durable.spi.record.TimerRecord;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;

/**
 * Writes the entries of a record: its row, its payload if that is large, and an entry in each index
 * that its state requires. Only the writer uses it.
 */
public final class Rows {
  /** The only shard. */
  public static final int SHARD = 0;

  private final FrontBounds bounds;
  private final ByteWriter scratch = new ByteWriter();

  Rows(FrontBounds bounds) {
    this.bounds = bounds;
  }

  /**
   * Adds to a batch the changes from one record to another.
   *
   * @param timer the key of the timer
   * @param before the stored record; null if there is none
   * @param record the new record
   * @return the new record as it is stored
   */
  @SuppressWarnings("ReferenceEquality") // an unchanged definition is the same object
  Stored put(byte[] timer, @Nullable Stored before, TimerRecord record, Batch batch)
      throws RocksDBException {
    boolean wasApart = before != null && before.payloadApart();
    boolean isApart = wasApart;
    if (before == null || before.record().definition() != record.definition()) {
      isApart = RecordCodec.isPayloadApart(record);
      if (isApart) {
        batch.put(Family.PAYLOADS, timer, record.definition().payload());
      } else if (wasApart) {
        batch.delete(Family.PAYLOADS, timer);
      }
    }
    batch.put(Family.TIMERS, timer, RecordCodec.encode(record, isApart, scratch));
    if (before != null) {
      unindex(timer, before.record(), record, batch);
    }
    index(timer, record, batch);
    return new Stored(record, isApart);
  }

  void delete(byte[] timer, Stored before, Batch batch) throws RocksDBException {
    batch.delete(Family.TIMERS, timer);
    if (before.payloadApart()) {
      batch.delete(Family.PAYLOADS, timer);
    }
    unindex(timer, before.record(), null, batch);
  }

  /**
   * Returns whether consumers may claim a timer. A timer with a handler never becomes ready,
   * because this store has one owner.
   */
  public static boolean isInReadyIndex(TimerRecord record) {
    return record.state() == TimerState.READY && record.definition().queue();
  }

  /**
   * A store of one owner makes no timer of a handler ready: such a timer is due instead. The engine
   * has decided about missed runs before it was ready. A run with a time of its own is not decided
   * about again.
   */
  static TimerRecord ofOneOwner(TimerRecord record) {
    if (record.state() != TimerState.READY || record.definition().queue()) {
      return record;
    }
    boolean isFirst = record.attempt() == 0;
    TimerRecord.Builder copy =
        record
            .copy()
            .claim(null)
            .state(isFirst ? TimerState.SCHEDULED : TimerState.RETRYING, record.scheduledAt());
    if (isFirst && record.definition().isRecurring()) {
      copy.runAt(record.scheduledAt());
    }
    return copy.build();
  }

  private void index(byte[] timer, TimerRecord record, Batch batch) throws RocksDBException {
    if (record.isIndexed()) {
      byte[] key = due(timer, record);
      bounds.due().insert(key, batch);
      batch.put(Family.DUE, key, Entries.encodeDue(record, scratch));
    }
    if (isInReadyIndex(record)) {
      byte[] key = ready(record);
      bounds.ready(record).insert(key, batch);
      batch.put(Family.READY, key, Entries.present());
    }
    if (record.state().isFinished()) {
      byte[] key = finished(timer, record);
      bounds.finished().insert(key, batch);
      batch.put(Family.FINISHED, key, Entries.present());
    }
  }

  /** Deletes the entries of a record, except an entry that the next record overwrites. */
  private void unindex(byte[] timer, TimerRecord old, @Nullable TimerRecord next, Batch batch)
      throws RocksDBException {
    if (old.isIndexed() && (next == null || next.fireAt() != old.fireAt())) {
      batch.delete(Family.DUE, due(timer, old));
      bounds.deleted(bounds.due());
    }
    if (isInReadyIndex(old)) {
      batch.delete(Family.READY, ready(old));
      bounds.deleted(bounds.ready(old));
    }
    if (old.state().isFinished()) {
      batch.delete(Family.FINISHED, finished(timer, old));
      bounds.deleted(bounds.finished());
    }
  }

  public static byte[] due(byte[] timer, TimerRecord record) {
    return Keys.due(SHARD, record.fireAt(), timer);
  }

  public static byte[] ready(TimerRecord record) {
    return Keys.ready(record.key(), record.definition().handler(), record.changedAt());
  }

  public static byte[] finished(byte[] timer, TimerRecord record) {
    return Keys.finished(record.changedAt(), timer);
  }
}
