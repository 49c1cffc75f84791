// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.server;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** Creates tables, and changes them while other nodes use them. */
public interface SchemaSql {
  /** Throws if the database cannot hold the tables. Called outside of a transaction. */
  void check(Connection connection) throws SQLException;

  /** {@return the statements that create the tables, or prepare them for a later format} */
  List<String> migration(int format);

  /** {@return the statements of a script, which is a resource in the package of a class} */
  static List<String> script(Class<?> type, String name) {
    try (InputStream in = requireNonNull(type.getResourceAsStream(name), name)) {
      String all = new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
      return List.of(all.split("(?<=;)\n", -1));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Locks the tables against changes by others, until {@link #unlock}. */
  void lock(Connection connection) throws SQLException;

  /** Releases the lock, after the transaction. */
  default void unlock(Connection connection) throws SQLException {}

  /**
   * {@return statements that execute one statement exclusively: no transaction has a lock on
   * timewheel_meta meanwhile}
   */
  List<String> exclusively(String statement);

  /** {@return whether the table that contains the format exists} */
  boolean exists(Connection connection) throws SQLException;
}
