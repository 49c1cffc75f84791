// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A map from primitive longs, with open addressing and linear probing. Not thread-safe. No slot is
 * ever marked as deleted: a removal moves up the entries that follow. So a map with many additions
 * and removals stays as fast as a new one. The table is at most eight times as long as its content,
 * or 16 slots, so draining takes time in proportion to the content.
 *
 * @param <V> the type of the values
 */
final class LongMap<V> {
  private static final int MIN_LENGTH = 16;

  private long[] keys = new long[MIN_LENGTH];
  private @Nullable Object[] values = new @Nullable Object[MIN_LENGTH];
  private int size;

  int size() {
    return size;
  }

  @Nullable V get(long key) {
    return value(indexOf(key));
  }

  /** Adds a value if the key is free. Returns whether it was free. */
  boolean putIfAbsent(long key, V value) {
    int index = indexOf(key);
    if (values[index] != null) {
      return false;
    }
    keys[index] = key;
    values[index] = value;
    size++;
    if (size > values.length / 2) {
      resize(values.length * 2);
    }
    return true;
  }

  @Nullable V remove(long key) {
    int hole = indexOf(key);
    V removed = value(hole);
    if (removed != null) {
      size--;
      close(hole);
      if (size < values.length / 8 && values.length > MIN_LENGTH) {
        resize(values.length / 2);
      }
    }
    return removed;
  }

  /**
   * Closes a gap. An entry after the gap moves into it if its search begins at the gap or before.
   */
  private void close(int hole) {
    int mask = values.length - 1;
    values[hole] = null;
    for (int i = (hole + 1) & mask; values[i] != null; i = (i + 1) & mask) {
      int home = home(keys[i]);
      if (((i - home) & mask) >= ((i - hole) & mask)) {
        keys[hole] = keys[i];
        values[hole] = values[i];
        values[i] = null;
        hole = i;
      }
    }
  }

  List<V> drain() {
    List<V> drained = new ArrayList<>(size);
    for (int i = 0; i < values.length; i++) {
      V value = value(i);
      if (value != null) {
        drained.add(value);
      }
    }
    keys = new long[MIN_LENGTH];
    values = new @Nullable Object[MIN_LENGTH];
    size = 0;
    return drained;
  }

  private void resize(int length) {
    long[] oldKeys = keys;
    @Nullable Object[] oldValues = values;
    keys = new long[length];
    values = new @Nullable Object[length];
    for (int i = 0; i < oldKeys.length; i++) {
      if (oldValues[i] != null) {
        int index = indexOf(oldKeys[i]);
        keys[index] = oldKeys[i];
        values[index] = oldValues[i];
      }
    }
  }

  /** Returns the position of the key, or the free position at which to put it. */
  private int indexOf(long key) {
    int mask = values.length - 1;
    int index = home(key);
    while (values[index] != null && keys[index] != key) {
      index = (index + 1) & mask;
    }
    return index;
  }

  private int home(long key) {
    return (int) spread(key) & (values.length - 1);
  }

  /**
   * Returns the MurmurHash3 finalizer of a key. Every bit of the key reaches the lower bits, so IDs
   * are spread, whichever bits differ.
   */
  static long spread(long key) {
    long hash = (key ^ (key >>> 33)) * 0xFF51AFD7ED558CCDL;
    hash = (hash ^ (hash >>> 33)) * 0xC4CEB9FE1A85EC53L;
    return hash ^ (hash >>> 33);
  }

  @SuppressWarnings("unchecked")
  private @Nullable V value(int index) {
    return (V) values[index];
  }
}
