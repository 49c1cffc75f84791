// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.store;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.rocksdb.internal.file.Batch;
import io.timewheel.durable.rocksdb.internal.file.Family;
import io.timewheel.durable.rocksdb.internal.format.ByteReader;
import io.timewheel.durable.rocksdb.internal.format.ByteWriter;
import io.timewheel.durable.rocksdb.internal.format.Codes;
import io.timewheel.durable.rocksdb.internal.format.MalformedException;
import io.timewheel.durable.rocksdb.internal.format.Meta;
import io.timewheel.durable.spi.Scopes;
import io.timewheel.durable.spi.TimerRecord;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;

/**
 * Counts the timers of each namespace and queue in each state. Each change stores its counters in
 * the same batch. This class keeps a copy in memory, plus the changes of the unwritten batch. Only
 * the writer changes counters; other threads read them.
 */
public final class Counts {
  private static final int FORMAT = 1;

  private final Map<String, long[]> stored = new HashMap<>();
  private final Map<String, long[]> next = new HashMap<>();

  public static long[] decode(byte[] bytes) {
    ByteReader from = new ByteReader(bytes);
    int format = from.u8();
    if (format != FORMAT) {
      throw new MalformedException("counters of format " + format);
    }
    long[] states = new long[Codes.STATES.size()];
    for (int i = 0; i < states.length; i++) {
      states[i] = from.unsigned();
    }
    from.end();
    return states;
  }

  public static byte[] encode(long[] states) {
    ByteWriter to = new ByteWriter().u8(FORMAT);
    for (long count : states) {
      to.unsigned(count);
    }
    return to.toBytes();
  }

  synchronized void load(String scope, long[] states) {
    stored.put(scope, states);
  }

  /** Adds a change to the counters of each scope of a record. */
  void add(TimerRecord record, long change) {
    for (String scope : Scopes.counting(record)) {
      next.computeIfAbsent(scope, this::copy)[Codes.STATES.of(record.state())] += change;
    }
  }

  private synchronized long[] copy(String scope) {
    long[] states = stored.get(scope);
    return states == null ? new long[Codes.STATES.size()] : states.clone();
  }

  /** Returns the number of unfinished timers, including those of the unwritten batch. */
  synchronized long pending(String namespace) {
    long[] states = next.get(namespace);
    if (states == null) {
      states = stored.get(namespace);
    }
    long pending = 0;
    for (int i = 0; states != null && i < states.length; i++) {
      pending += Codes.STATES.at(i).isFinished() ? 0 : states[i];
    }
    return pending;
  }

  /** {@return the number of stored timers of a namespace, in all states} */
  public synchronized long of(String namespace) {
    long[] states = stored.get(namespace);
    return states == null ? 0 : Arrays.stream(states).sum();
  }

  /**
   * Returns how many timers of a queue are claimed by consumers, including those of the unwritten
   * batch.
   */
  synchronized long running(String scope) {
    long[] states = next.getOrDefault(scope, stored.get(scope));
    return states == null ? 0 : states[Codes.STATES.of(TimerState.RUNNING)];
  }

  /** {@return the number of finished timers that are stored} */
  public synchronized long finished() {
    long finished = 0;
    for (long[] states : stored.values()) {
      for (int i = 0; i < states.length; i++) {
        finished += Codes.STATES.at(i).isFinished() ? states[i] : 0;
      }
    }
    return finished;
  }

  /** Adds the changed counters to the batch. */
  void writeTo(Batch batch) throws RocksDBException {
    for (Map.Entry<String, long[]> scope : next.entrySet()) {
      byte[] key = Meta.counts(scope.getKey());
      if (isZero(scope.getValue())) {
        batch.delete(Family.META, key);
      } else {
        batch.put(Family.META, key, encode(scope.getValue()));
      }
    }
  }

  /** Applies the changes once the batch is written. */
  synchronized void accept() {
    next.forEach(
        (scope, states) -> {
          if (isZero(states)) {
            stored.remove(scope);
          } else {
            stored.put(scope, states);
          }
        });
    next.clear();
  }

  /** Drops the changes if the batch is not written. */
  void discard() {
    next.clear();
  }

  public synchronized Map<String, Map<TimerState, Long>> all() {
    Map<String, Map<TimerState, Long>> all = new HashMap<>();
    stored.forEach(
        (scope, states) -> {
          if (!Scopes.isQueue(scope)) {
            all.put(scope, byState(states));
          }
        });
    return all;
  }

  /**
   * {@return the number of unfinished timers of each queue, by state}
   *
   * @param namespace the namespace of the queues; null for all
   */
  public synchronized Map<TimerKey, Map<TimerState, Long>> queues(@Nullable String namespace) {
    Map<TimerKey, Map<TimerState, Long>> queues = new HashMap<>();
    stored.forEach(
        (scope, states) -> {
          if (Scopes.isQueue(scope)) {
            TimerKey queue = Scopes.queueOf(scope);
            if (namespace == null || namespace.equals(queue.namespace())) {
              queues.put(queue, byState(states));
            }
          }
        });
    return queues;
  }

  private static Map<TimerState, Long> byState(long[] states) {
    Map<TimerState, Long> counts = new EnumMap<>(TimerState.class);
    for (int i = 0; i < states.length; i++) {
      if (states[i] != 0) {
        counts.put(Codes.STATES.at(i), states[i]);
      }
    }
    return counts;
  }

  static boolean isZero(long[] states) {
    for (long count : states) {
      if (count != 0) {
        return false;
      }
    }
    return true;
  }
}
