// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks.database;

import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * Complete rows in memory, which are read, changed and written back as one array for each column.
 */
final class Rows {
  private final Long[][] longs; // version, due, fire, created, changed
  private final Integer[][] ints; // revision, shard, attempt
  private final Short[][] shorts; // state, flags
  private final String[][] texts; // namespace, id, handler
  private final byte[][][] bytes; // spec, progress, payload
  private int size;

  Rows(int capacity) {
    longs = new Long[5][capacity];
    ints = new Integer[3][capacity];
    shorts = new Short[2][capacity];
    texts = new String[3][capacity];
    bytes = new byte[3][capacity][];
  }

  void add(ResultSet row) throws SQLException {
    int column = 1;
    for (Long[] values : longs) {
      values[size] = row.getLong(column++);
    }
    for (Integer[] values : ints) {
      values[size] = row.getInt(column++);
    }
    for (Short[] values : shorts) {
      values[size] = row.getShort(column++);
    }
    for (String[] values : texts) {
      values[size] = row.getString(column++);
    }
    for (byte[][] values : bytes) {
      values[size] = row.getBytes(column++);
    }
    size++;
  }

  void add(
      String id,
      long dueMillis,
      int shard,
      String namespace,
      String handler,
      byte[] spec,
      byte[] payload) {
    for (Long[] values : longs) {
      values[size] = 1L;
    }
    for (Integer[] values : ints) {
      values[size] = 0;
    }
    for (Short[] values : shorts) {
      values[size] = 1;
    }
    longs[1][size] = dueMillis;
    longs[2][size] = dueMillis;
    ints[1][size] = shard;
    texts[0][size] = namespace;
    texts[1][size] = id;
    texts[2][size] = handler;
    bytes[0][size] = spec;
    bytes[1][size] = new byte[0];
    bytes[2][size] = payload;
    size++;
  }

  /** Applies the decision that the next attempt starts. */
  void begin() {
    for (int i = 0; i < size; i++) {
      if (shorts[0][i] != 1) {
        throw new IllegalStateException("not scheduled");
      }
      shorts[0][i] = 2;
      ints[0][i]++;
      ints[2][i]++;
      bytes[1][i] = FloorTables.progress();
    }
  }

  /** Applies the decision that the attempt has succeeded. */
  void succeed() {
    for (int i = 0; i < size; i++) {
      if (shorts[0][i] != 2) {
        throw new IllegalStateException("not claimed");
      }
      shorts[0][i] = 3;
      ints[0][i]++;
    }
  }

  void expect(int rows) {
    if (rows != size) {
      throw new IllegalStateException(rows + " rows (expected: " + size + ")");
    }
  }

  int size() {
    return size;
  }

  Long[] versions() {
    return longs[0];
  }

  Long[] due() {
    return longs[1];
  }

  Long[] fire() {
    return longs[2];
  }

  Long[] created() {
    return longs[3];
  }

  Long[] changed() {
    return longs[4];
  }

  Integer[] revisions() {
    return ints[0];
  }

  Integer[] shards() {
    return ints[1];
  }

  Integer[] attempts() {
    return ints[2];
  }

  Short[] states() {
    return shorts[0];
  }

  Short[] flags() {
    return shorts[1];
  }

  String[] namespaces() {
    return texts[0];
  }

  String[] ids() {
    return texts[1];
  }

  String[] handlers() {
    return texts[2];
  }

  byte[][] specs() {
    return bytes[0];
  }

  byte[][] progress() {
    return bytes[1];
  }

  byte[][] payloads() {
    return bytes[2];
  }
}
