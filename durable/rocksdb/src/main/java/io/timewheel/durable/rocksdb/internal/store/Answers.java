// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.store;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.rocksdb.internal.file.Batch;
import io.timewheel.durable.rocksdb.internal.file.Database;
import io.timewheel.durable.rocksdb.internal.file.Failures;
import io.timewheel.durable.rocksdb.internal.file.Family;
import io.timewheel.durable.rocksdb.internal.format.Entries;
import io.timewheel.durable.rocksdb.internal.format.Keys;
import io.timewheel.durable.spi.format.MalformedException;
import io.timewheel.durable.spi.record.RequestAnswer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;

/** Reads, writes and purges the answers of requests. Guarded by the writer. */
final class Answers {
  private final Database database;
  private final Failures failures;

  /**
   * A time before all stored answers. A purge begins here, to skip the tombstones of deleted
   * answers.
   */
  private long from = Long.MIN_VALUE;

  Answers(Database database, Failures failures) {
    this.database = database;
    this.failures = failures;
  }

  @Nullable RequestAnswer get(TimerKey key, String id) {
    try {
      byte[] value = database.get(Family.ANSWERS, Keys.answer(key, id));
      return value == null ? null : Entries.decodeAnswer(key, id, value);
    } catch (RocksDBException e) {
      throw failures.lookup("cannot read the answer of request " + id, e);
    } catch (MalformedException e) {
      throw failures.lookup(key, e);
    }
  }

  void put(RequestAnswer answer, Batch batch) throws RocksDBException {
    byte[] key = Keys.answer(answer.key(), answer.request().id());
    batch.put(Family.ANSWERS, key, Entries.encode(answer));
    batch.put(Family.ANSWERS, Keys.answeredAt(answer.answeredAt(), key), Entries.present());
    from = Math.min(from, answer.answeredAt());
  }

  /** Finds the oldest answers that were given before a time, up to a number. */
  List<byte[]> before(long answeredBefore, int limit) {
    List<byte[]> old = new ArrayList<>();
    if (answeredBefore > from) {
      ReadyIndex.scan(
          database,
          failures,
          Family.ANSWERS,
          Keys.answeredAt(from),
          Keys.answeredAt(answeredBefore),
          key -> {
            old.add(key);
            return old.size() < limit;
          });
    }
    return old;
  }

  static void delete(List<byte[]> old, Batch batch) throws RocksDBException {
    for (byte[] answeredAt : old) {
      batch.delete(Family.ANSWERS, answeredAt);
      batch.delete(Family.ANSWERS, Keys.answer(answeredAt));
    }
  }

  /** Begins the next purge behind deleted answers. */
  void purged(List<byte[]> old, long answeredBefore, int limit) {
    if (answeredBefore > from) {
      from = old.size() < limit ? answeredBefore : Keys.answeredAt(old.get(limit - 1));
    }
  }
}
