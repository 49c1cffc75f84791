// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.store;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.rocksdb.internal.file.Database;
import io.timewheel.durable.rocksdb.internal.file.Failures;
import io.timewheel.durable.rocksdb.internal.file.Family;
import io.timewheel.durable.rocksdb.internal.format.Keys;
import io.timewheel.durable.spi.PageBuilder;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreException.Kind;
import io.timewheel.durable.spi.batch.Cell;
import io.timewheel.durable.spi.format.MalformedException;
import io.timewheel.durable.spi.format.RecordCodec;
import io.timewheel.durable.spi.format.RecordCodec.Stored;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;

/**
 * Reads the timers of a batch, and caches those with an open claim, which will soon change when
 * their attempts end. Guarded by the writer.
 */
final class Cells {
  private static final int MAX_CLAIMED = 8_192;

  /** The maximum size of a cached record without its payload, to limit the memory of the cache. */
  private static final int MAX_CLAIMED_BYTES = 2_048;

  private final Database database;
  private final Failures failures;
  private final Map<TimerKey, Stored> claimed = new HashMap<>();

  Cells(Database database, Failures failures) {
    this.database = database;
    this.failures = failures;
  }

  /** A timer in a batch, and how it is stored. */
  static final class Row extends Cell {
    final byte[] bytes;
    boolean wantsPayload;
    @Nullable Stored stored;

    Row(TimerKey key) {
      super(key);
      bytes = Keys.timer(key);
    }

    void found(Stored row) {
      stored = row;
      found(row.record());
    }
  }

  void read(Row timer) {
    Stored known = claimed.get(timer.key());
    if (known == null) {
      known = stored(timer);
    }
    if (known != null) {
      timer.found(known);
    }
  }

  /** Reads the timer of an index entry; null if it cannot be read. */
  @Nullable Row readIfSound(TimerKey key) {
    Row timer = new Row(key);
    timer.wantsPayload = true;
    try {
      read(timer);
      return timer;
    } catch (StoreException e) {
      if (e.kind() != Kind.REJECTED) {
        throw e;
      }
      return null;
    }
  }

  private @Nullable Stored stored(Row timer) {
    byte[] value = row(timer);
    return value == null ? null : decode(timer, value);
  }

  byte @Nullable [] row(Row timer) {
    try {
      return database.get(Family.TIMERS, timer.bytes);
    } catch (RocksDBException e) {
      throw failures.lookup("cannot read " + timer.key(), e);
    }
  }

  private Stored decode(Row timer, byte[] value) {
    try {
      return RecordCodec.decode(
          timer.key(), value, timer.wantsPayload ? () -> payload(timer) : RecordCodec.LEFT_OUT);
    } catch (MalformedException e) {
      throw failures.lookup(timer.key(), e);
    }
  }

  private byte[] payload(Row timer) {
    try {
      byte[] payload = database.get(Family.PAYLOADS, timer.bytes);
      if (payload == null) {
        throw new MalformedException("its payload is missing");
      }
      return payload;
    } catch (RocksDBException e) {
      throw failures.lookup("cannot read the payload of " + timer.key(), e);
    }
  }

  /** Caches the claimed timers of a written batch. */
  void written(Collection<Row> timers) {
    for (Row timer : timers) {
      if (timer.isChanged()) {
        claimed.remove(timer.key());
      }
    }
    for (Row timer : timers) {
      Stored stored = timer.stored;
      if (timer.isChanged()
          && stored != null
          && claimed.size() < MAX_CLAIMED
          && isSmallClaim(stored)) {
        claimed.put(timer.key(), stored);
      }
    }
  }

  private static boolean isSmallClaim(Stored stored) {
    return stored.record().state() == TimerState.RUNNING
        && !stored.payloadApart()
        && PageBuilder.bytes(stored.record(), false) <= MAX_CLAIMED_BYTES;
  }
}
