// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.sql;

import io.timewheel.durable.spi.record.TimerRecord;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Binds values one after the other, or the columns of many rows, each as one array. */
public final class Parameters {
  private final Connection connection;
  private final PreparedStatement statement;
  private int at;

  public Parameters(Connection connection, PreparedStatement statement) {
    this.connection = connection;
    this.statement = statement;
  }

  private Parameters array(String type, Object values) throws SQLException {
    // Primitive arrays are passed as they are, because the method with Object[] does not accept
    // them.
    Object array =
        values instanceof Object[] objects ? connection.createArrayOf(type, objects) : values;
    if (array instanceof java.sql.Array sqlArray) {
      statement.setArray(++at, sqlArray);
    } else {
      statement.setObject(++at, array);
    }
    return this;
  }

  public <T> Parameters texts(List<T> rows, Function<T, String> column) throws SQLException {
    String[] values = new String[rows.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = column.apply(rows.get(i));
    }
    return array("text", values);
  }

  public <T> Parameters longs(List<T> rows, ToLongFunction<T> column) throws SQLException {
    long[] values = new long[rows.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = column.applyAsLong(rows.get(i));
    }
    return array("int8", values);
  }

  public <T> Parameters ints(List<T> rows, ToIntFunction<T> column) throws SQLException {
    int[] values = new int[rows.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = column.applyAsInt(rows.get(i));
    }
    return array("int4", values);
  }

  public <T> Parameters bytes(List<T> rows, Function<T, byte @Nullable []> column)
      throws SQLException {
    byte[][] values = new byte[rows.size()][];
    for (int i = 0; i < values.length; i++) {
      values[i] = column.apply(rows.get(i));
    }
    return array("bytea", values);
  }

  /** Binds the numbers of the rows, from 1 on. */
  public Parameters numbers(int rows) throws SQLException {
    return array("int4", IntStream.rangeClosed(1, rows).toArray());
  }

  public Parameters number(long value) throws SQLException {
    statement.setLong(++at, value);
    return this;
  }

  public Parameters text(String value) throws SQLException {
    statement.setString(++at, value);
    return this;
  }

  /** Binds a time; null for a time that is never reached. */
  public Parameters time(long value) throws SQLException {
    if (value == TimerRecord.NEVER) {
      statement.setNull(++at, Types.BIGINT);
      return this;
    }
    return number(value);
  }

  public Parameters bytes(byte @Nullable [] value) throws SQLException {
    statement.setBytes(++at, value);
    return this;
  }
}
