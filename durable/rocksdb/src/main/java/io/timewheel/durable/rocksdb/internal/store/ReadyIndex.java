// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.store;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.rocksdb.internal.file.Database;
import io.timewheel.durable.rocksdb.internal.file.Failures;
import io.timewheel.durable.rocksdb.internal.file.Family;
import io.timewheel.durable.rocksdb.internal.format.Keys;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.StoreException.Kind;
import io.timewheel.durable.spi.format.MalformedException;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;
import org.rocksdb.RocksDBException;

/** Reads the index of ready timers. Thread-safe. */
public final class ReadyIndex {
  private final Database database;
  private final Failures failures;
  private final FrontBounds bounds;

  ReadyIndex(Database database, Failures failures, FrontBounds bounds) {
    this.database = database;
    this.failures = failures;
    this.bounds = bounds;
  }

  /** Returns when the first timer of each queue became ready. */
  public Map<TimerKey, Long> since(Collection<TimerKey> queues) {
    Map<TimerKey, Long> since = new HashMap<>();
    for (TimerKey queue : queues) {
      scan(
          queue.namespace(),
          queue.id(),
          key -> {
            since.put(queue, Keys.ready(key).fireAt());
            return false;
          });
    }
    return since;
  }

  /**
   * Returns whether the index contains an entry of a queue. May miss an entry that is being
   * written.
   */
  public boolean contains(LeaseRequest request) {
    boolean[] found = new boolean[1];
    scan(
        request.namespace(),
        request.queue(),
        key -> {
          found[0] = true;
          return false;
        });
    return found[0];
  }

  void scan(String namespace, String queue, Predicate<byte[]> visitor) {
    scan(
        database,
        failures,
        Family.READY,
        bounds.readyFrom(namespace, queue),
        Keys.behindAllOf(Keys.queue(namespace, queue)),
        visitor);
  }

  /** Visits the keys of an index. */
  static void scan(
      Database database,
      Failures failures,
      Family family,
      byte[] from,
      byte[] to,
      Predicate<byte[]> visitor) {
    try {
      database.scanReadable(
          family,
          from,
          to,
          null,
          at -> visitor.test(at.key()),
          why -> failures.damaged("cannot read the index " + family, why));
    } catch (RocksDBException e) {
      throw failures.reading("cannot read the index " + family, e);
    } catch (MalformedException e) {
      throw failures.of(Kind.UNAVAILABLE, "the index " + family + " cannot be read", e);
    }
  }
}
