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

/** Makes tables, and changes them while other nodes use them. */
public interface SchemaSql {
  /** Refuses a database that cannot hold the tables. Outside of a transaction. */
  void check(Connection connection) throws SQLException;

  /** {@return the statements that make the tables, or prepare them for a later format} */
  List<String> migration(int format);

  /** {@return the statements of a script, which is a resource beside a class} */
  static List<String> script(Class<?> beside, String name) {
    try (InputStream in = requireNonNull(beside.getResourceAsStream(name), name)) {
      String all = new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
      return List.of(all.split("(?<=;)\n", -1));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Takes the right to change the tables, until {@link #unlock}. */
  void lock(Connection connection) throws SQLException;

  /** Gives it back, after the transaction. */
  default void unlock(Connection connection) throws SQLException {}

  /** {@return statements that run one alone: no transaction has a share of timewheel_meta} */
  List<String> alone(String statement);

  /** {@return whether there is the table in which the format is} */
  boolean exists(Connection connection) throws SQLException;
}
