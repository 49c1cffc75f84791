// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.store;

import io.timewheel.durable.rocksdb.internal.file.Database;
import io.timewheel.durable.rocksdb.internal.file.Failures;
import io.timewheel.durable.rocksdb.internal.file.Family;
import io.timewheel.durable.rocksdb.internal.format.Keys;
import io.timewheel.durable.rocksdb.internal.format.Meta;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.rocksdb.RocksDBException;

/**
 * Keeps the front bounds of the indexes: due timers, finished timers, and the ready timers of each
 * queue in use. Only the writer changes them. Only the bound of the due timers is stored; each
 * opening finds the others again.
 */
public final class FrontBounds {
  /** Above this number of queues, the least recently used ones are scanned from their beginning. */
  private static final int MAX_QUEUES = 1_024;

  /** A queue of a namespace. */
  private record Queue(String namespace, String name) {}

  private final Database database;
  private final Failures failures;
  private final FrontBound due;
  private final FrontBound finished;
  private final Map<Queue, FrontBound> ready = new LinkedHashMap<>(16, 0.75f, true);
  private final List<FrontBound> toRaise = new ArrayList<>();

  FrontBounds(Database database, Failures failures) throws RocksDBException {
    this.database = database;
    this.failures = failures;
    due =
        new FrontBound(
            database,
            failures,
            Family.DUE,
            Keys.due(Rows.SHARD, Long.MIN_VALUE),
            Keys.due(Rows.SHARD + 1, Long.MIN_VALUE),
            Meta.dueFrom(),
            database.get(Family.META, Meta.dueFrom()));
    finished =
        new FrontBound(
            database, failures, Family.FINISHED, new byte[0], Keys.behindAllFinished(), null, null);
  }

  public FrontBound due() {
    return due;
  }

  public FrontBound finished() {
    return finished;
  }

  /**
   * Returns the start of a scan of a queue. Reading creates no bound: idle queues would evict the
   * bounds of busy queues.
   */
  synchronized byte[] readyFrom(String namespace, String name) {
    FrontBound bound = ready.get(new Queue(namespace, name));
    return bound == null ? Keys.queue(namespace, name) : bound.from();
  }

  private synchronized FrontBound ready(String namespace, String name) {
    Queue queue = new Queue(namespace, name);
    FrontBound bound = ready.get(queue);
    if (bound == null) {
      byte[] first = Keys.queue(namespace, name);
      bound =
          new FrontBound(
              database, failures, Family.READY, first, Keys.behindAllOf(first), null, null);
      ready.put(queue, bound);
      if (ready.size() > MAX_QUEUES) {
        ready.remove(ready.keySet().iterator().next());
      }
    }
    return bound;
  }

  FrontBound ready(TimerRecord record) {
    return ready(record.key().namespace(), record.definition().handler());
  }

  /** Counts a deletion that is in the batch but not yet written. */
  void deleted(FrontBound bound) {
    if (bound.deleted()) {
      toRaise.add(bound);
    }
  }

  /** Raises the bounds with enough deletions. Called after each batch; usually does nothing. */
  void raise() throws RocksDBException {
    for (FrontBound bound : toRaise) {
      bound.raise();
    }
    toRaise.clear();
  }
}
