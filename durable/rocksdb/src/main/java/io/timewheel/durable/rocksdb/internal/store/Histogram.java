// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.store;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.rocksdb.internal.file.Database;
import io.timewheel.durable.rocksdb.internal.file.Failures;
import io.timewheel.durable.rocksdb.internal.file.Family;
import io.timewheel.durable.rocksdb.internal.format.Entries;
import io.timewheel.durable.rocksdb.internal.format.Keys;
import io.timewheel.durable.spi.format.MalformedException;
import io.timewheel.durable.spi.format.RecordCodec;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;

/**
 * Counts waiting timers by their time.
 *
 * <p>The due index contains the timers of a time span in all namespaces. The family of timers
 * contains those of one namespace at all times. A count for a namespace starts with the index. It
 * switches to the timers after it has read as many index entries as the namespace has timers. So a
 * small namespace is cheap to count even alongside large ones.
 */
final class Histogram {
  private final Database database;
  private final Failures failures;

  /** The prefix of the keys of the namespace; null for all namespaces. */
  private final byte @Nullable [] prefix;

  private final long[] bounds;
  private final long[] buckets;

  /** The number of index entries read. */
  private long passed;

  Histogram(Database database, Failures failures, @Nullable String namespace, long[] bounds) {
    this.database = database;
    this.failures = failures;
    this.prefix = namespace == null ? null : Keys.namespace(namespace);
    this.bounds = bounds;
    buckets = new long[bounds.length - 1];
  }

  /**
   * {@return the count of each bucket}
   *
   * @param timers the number of timers of the namespace
   */
  long[] count(long timers) throws RocksDBException {
    byte[] from = prefix;
    if (from == null) {
      var unused = readIndex(Long.MAX_VALUE);
    } else if (timers > 0 && !readIndex(timers)) {
      Arrays.fill(buckets, 0);
      readTimers(from);
    }
    return buckets;
  }

  /** {@return false if there are more entries than the limit} */
  private boolean readIndex(long limit) throws RocksDBException {
    database.scan(
        Family.DUE,
        Keys.due(Rows.SHARD, bounds[0]),
        Keys.due(Rows.SHARD, bounds[bounds.length - 1]),
        null,
        at -> {
          failures.checkGoesOn(database);
          if (passed++ >= limit) {
            return false;
          }
          try {
            entry(at);
          } catch (MalformedException e) {
            failures.damaged("an entry of the due index cannot be read", e);
          }
          return true;
        });
    return passed <= limit;
  }

  private void entry(RocksIterator at) {
    byte[] key = at.key();
    if (prefix == null || Keys.isDueIn(prefix, key)) {
      add(Entries.decodeDueState(at.value()), Keys.dueTime(key));
    }
  }

  private void readTimers(byte[] from) throws RocksDBException {
    database.scan(
        Family.TIMERS,
        from,
        Keys.behindAllOf(from),
        null,
        at -> {
          failures.checkGoesOn(database);
          TimerKey key = Keys.timer(at.key());
          try {
            TimerRecord record = RecordCodec.decode(key, at.value(), RecordCodec.LEFT_OUT).record();
            if (record.isIndexed()) {
              add(record.state(), record.fireAt());
            }
          } catch (MalformedException e) {
            failures.damaged("the record of " + key + " cannot be read", e);
          }
          return true;
        });
  }

  private void add(TimerState state, long fireAt) {
    if (state != TimerState.SCHEDULED && state != TimerState.RETRYING) {
      return;
    }
    int found = Arrays.binarySearch(bounds, fireAt);
    int bucket = found >= 0 ? found : -found - 2;
    if (bucket >= 0 && bucket < buckets.length) {
      buckets[bucket]++;
    }
  }
}
