// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.store;

import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.rocksdb.internal.file.Batch;
import io.timewheel.durable.rocksdb.internal.file.Family;
import io.timewheel.durable.rocksdb.internal.format.ByteReader;
import io.timewheel.durable.rocksdb.internal.format.ByteWriter;
import io.timewheel.durable.rocksdb.internal.format.Codes;
import io.timewheel.durable.rocksdb.internal.format.MalformedException;
import io.timewheel.durable.rocksdb.internal.format.Meta;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import org.rocksdb.RocksDBException;

/**
 * How many timers each namespace has in each state. The numbers are stored with the changes that
 * make them; here is a copy of them, and what a batch that is not yet written adds to it. The
 * writer adds, others read.
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

  synchronized void load(String namespace, long[] states) {
    stored.put(namespace, states);
  }

  void add(String namespace, TimerState state, long change) {
    next.computeIfAbsent(namespace, this::copy)[Codes.STATES.of(state)] += change;
  }

  private synchronized long[] copy(String namespace) {
    long[] states = stored.get(namespace);
    return states == null ? new long[Codes.STATES.size()] : states.clone();
  }

  /** How many unfinished timers there are, with those of the batch. */
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

  /** How many finished timers are stored. */
  public synchronized long finished() {
    long finished = 0;
    for (long[] states : stored.values()) {
      for (int i = 0; i < states.length; i++) {
        finished += Codes.STATES.at(i).isFinished() ? states[i] : 0;
      }
    }
    return finished;
  }

  /** Puts the numbers that have changed into the batch that changes them. */
  void writeTo(Batch batch) throws RocksDBException {
    for (Map.Entry<String, long[]> namespace : next.entrySet()) {
      byte[] key = Meta.counts(namespace.getKey());
      if (isZero(namespace.getValue())) {
        batch.delete(Family.META, key);
      } else {
        batch.put(Family.META, key, encode(namespace.getValue()));
      }
    }
  }

  /** The batch is written. */
  synchronized void accept() {
    next.forEach(
        (namespace, states) -> {
          if (isZero(states)) {
            stored.remove(namespace);
          } else {
            stored.put(namespace, states);
          }
        });
    next.clear();
  }

  /** The batch is not written. */
  void discard() {
    next.clear();
  }

  public synchronized Map<String, Map<TimerState, Long>> all() {
    Map<String, Map<TimerState, Long>> all = new HashMap<>();
    stored.forEach(
        (namespace, states) -> {
          Map<TimerState, Long> counts = new EnumMap<>(TimerState.class);
          for (int i = 0; i < states.length; i++) {
            if (states[i] != 0) {
              counts.put(Codes.STATES.at(i), states[i]);
            }
          }
          all.put(namespace, counts);
        });
    return all;
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
