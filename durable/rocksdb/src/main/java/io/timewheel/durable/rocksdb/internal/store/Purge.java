// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.store;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.rocksdb.internal.file.Database;
import io.timewheel.durable.rocksdb.internal.file.Failures;
import io.timewheel.durable.rocksdb.internal.file.Family;
import io.timewheel.durable.rocksdb.internal.format.Keys;
import io.timewheel.durable.spi.StoreException.Kind;
import io.timewheel.durable.spi.format.MalformedException;
import io.timewheel.durable.spi.format.RecordCodec;
import io.timewheel.durable.spi.format.RecordCodec.Stored;
import io.timewheel.durable.spi.record.DuePosition;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;

/**
 * Deletes finished timers whose retention is over. It reads them in small steps, without payloads,
 * while other threads write. The writer then deletes those that have not changed since. So a commit
 * waits only for the comparison and deletion of a few rows.
 */
public final class Purge {
  /** The number of timers that are read, then deleted in one write. */
  public static final int STEP = 100;

  private final Database database;
  private final Failures failures;
  private final Writer writer;

  public Purge(Database database, Failures failures, Writer writer) {
    this.database = database;
    this.failures = failures;
    this.writer = writer;
  }

  /** An entry of the index of finished timers, and the timer that it refers to. */
  public static final class Entry {
    /** The key of the entry in the index. */
    final byte[] index;

    final TimerKey timer;

    /** The stored row of the timer; null if there is none. */
    final byte @Nullable [] row;

    /**
     * The decoded row without its payload; null if the entry does not match the timer's finish
     * time.
     */
    final @Nullable Stored stored;

    Entry(byte[] index, TimerKey timer, byte @Nullable [] row, @Nullable Stored stored) {
      this.index = index;
      this.timer = timer;
      this.row = row;
      this.stored = stored;
    }
  }

  /** Implements {@link io.timewheel.durable.spi.TimerStore#purge}. */
  public int run(long finishedBeforeMillis, long keep, int limit) {
    int found = 0;
    byte[] from = writer.bounds().finished().from();
    while (found < limit) {
      int most = Math.min(STEP, limit - found);
      List<Entry> step = find(from, finishedBeforeMillis, keep, most);
      writer.purge(step);
      found += step.size();
      if (step.size() < most) {
        break;
      }
      from = Keys.behind(step.get(most - 1).index);
    }
    return found;
  }

  /** Finds the next entries to delete, from a key of the index on. */
  public List<Entry> find(byte[] from, long finishedBeforeMillis, long keep, int most) {
    long surplus = writer.counts().finished() - keep;
    List<Entry> found = new ArrayList<>();
    try {
      database.scanReadable(
          Family.FINISHED,
          from,
          writer.bounds().finished().end(),
          null,
          at -> {
            byte[] index = at.key();
            DuePosition end = Keys.finished(index);
            if (end.fireAt() >= finishedBeforeMillis && found.size() >= surplus) {
              return false;
            }
            Entry entry = read(index, end);
            if (entry != null) {
              found.add(entry);
            }
            return found.size() < most;
          },
          why -> failures.damaged("cannot read the index " + Family.FINISHED, why));
    } catch (RocksDBException e) {
      throw failures.reading("cannot read the index " + Family.FINISHED, e);
    } catch (MalformedException e) {
      throw failures.of(Kind.UNAVAILABLE, "the index " + Family.FINISHED + " cannot be read", e);
    }
    return found;
  }

  /**
   * Reads the timer of an entry; null if it cannot be read, so that the other entries are still
   * purged.
   */
  private @Nullable Entry read(byte[] index, DuePosition end) throws RocksDBException {
    byte[] row;
    try {
      row = database.get(Family.TIMERS, Keys.timer(end.key()));
    } catch (RocksDBException e) {
      if (!Failures.isDamage(e)) {
        throw e;
      }
      failures.damaged("cannot read " + end.key(), e);
      return null;
    }
    if (row == null) {
      return new Entry(index, end.key(), null, null);
    }
    try {
      Stored stored = RecordCodec.decode(end.key(), row, RecordCodec.LEFT_OUT);
      TimerRecord record = stored.record();
      boolean isItsEnd = record.state().isFinished() && record.changedAt() == end.fireAt();
      return new Entry(index, end.key(), row, isItsEnd ? stored : null);
    } catch (MalformedException e) {
      return null;
    }
  }
}
