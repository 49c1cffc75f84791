// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.store;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.rocksdb.internal.file.Batch;
import io.timewheel.durable.rocksdb.internal.file.Family;
import io.timewheel.durable.rocksdb.internal.format.Meta;
import io.timewheel.durable.spi.batch.StateCounts;
import io.timewheel.durable.spi.format.ByteReader;
import io.timewheel.durable.spi.format.ByteWriter;
import io.timewheel.durable.spi.format.Codes;
import io.timewheel.durable.spi.format.MalformedException;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;

/**
 * Keeps in memory the counters of each namespace and queue, which each change stores in the same
 * batch. Only the writer changes counters; other threads read them.
 */
public final class Counts {
  private static final int FORMAT = 1;

  private final StateCounts stored = new StateCounts();

  public static Map<TimerState, Long> decode(byte[] bytes) {
    ByteReader from = new ByteReader(bytes);
    int format = from.u8();
    if (format != FORMAT) {
      throw new MalformedException("counters of format " + format);
    }
    Map<TimerState, Long> states = new EnumMap<>(TimerState.class);
    for (int i = 0; i < Codes.STATES.size(); i++) {
      long count = from.unsigned();
      if (count != 0) {
        states.put(Codes.STATES.at(i), count);
      }
    }
    from.end();
    return states;
  }

  public static byte[] encode(Map<TimerState, Long> states) {
    ByteWriter to = new ByteWriter().u8(FORMAT);
    for (int i = 0; i < Codes.STATES.size(); i++) {
      to.unsigned(states.getOrDefault(Codes.STATES.at(i), 0L));
    }
    return to.toBytes();
  }

  synchronized void load(String scope, Map<TimerState, Long> states) {
    states.forEach((state, count) -> stored.add(scope, state, count));
  }

  synchronized long pending(String namespace) {
    return stored.unfinished(namespace);
  }

  /** {@return the number of stored timers of a namespace, in all states} */
  public synchronized long of(String namespace) {
    return stored.of(namespace).values().stream().mapToLong(Long::longValue).sum();
  }

  /** {@return the number of timers of a queue that consumers have claimed} */
  synchronized long running(String scope) {
    return stored.of(scope, TimerState.RUNNING);
  }

  /** {@return the number of finished timers that are stored} */
  public synchronized long finished() {
    return stored.finished();
  }

  /** Adds to the batch the counters that a delta changes. */
  synchronized void write(StateCounts delta, Batch batch) throws RocksDBException {
    for (String scope : delta.scopes()) {
      StateCounts next = new StateCounts();
      stored.of(scope).forEach((state, count) -> next.add(scope, state, count));
      delta.of(scope).forEach((state, count) -> next.add(scope, state, count));
      byte[] key = Meta.counts(scope);
      if (next.isEmpty()) {
        batch.delete(Family.META, key);
      } else {
        batch.put(Family.META, key, encode(next.of(scope)));
      }
    }
  }

  /** Applies a delta once its batch is written. */
  synchronized void add(StateCounts delta) {
    stored.add(delta);
  }

  public synchronized Map<String, Map<TimerState, Long>> all() {
    return stored.namespaces();
  }

  /**
   * {@return the number of unfinished timers of each queue, by state}
   *
   * @param namespace the namespace of the queues; null for all
   */
  public synchronized Map<TimerKey, Map<TimerState, Long>> queues(@Nullable String namespace) {
    return stored.queues(namespace);
  }
}
