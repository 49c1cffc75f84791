// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.mariadb;

import io.timewheel.durable.jdbc.internal.server.SchemaSql;
import io.timewheel.durable.jdbc.internal.sql.Sql;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreException.Kind;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** Creates and changes the tables on MariaDB, 10.11 or newer. */
final class MariaDbSchema implements SchemaSql {
  private static final int LEAST_MAJOR = 10;
  private static final int LEAST_MINOR = 11;

  /** Room for the largest statement: 3 MiB, in which each byte is escaped. */
  private static final long LEAST_PACKET = 4 << 20;

  private static final String SCHEMA_LOCK = "concat('timewheel.', md5(database()))";
  private static final int SCHEMA_SECONDS = 60;

  @Override
  public void check(Connection connection) throws SQLException {
    String version = Sql.text(connection, "SELECT version()");
    String[] parts = version.split("[.-]", 3);
    if (!version.contains("MariaDB")) {
      throw new StoreException(
          Kind.UNAVAILABLE, "the database is MySQL " + version + " (expected: MariaDB)", null);
    }
    int major = Integer.parseInt(parts[0]);
    int minor = Integer.parseInt(parts[1]);
    if (major < LEAST_MAJOR || (major == LEAST_MAJOR && minor < LEAST_MINOR)) {
      throw new StoreException(
          Kind.UNAVAILABLE,
          "the database is MariaDB %d.%d (expected: at least %d.%d)"
              .formatted(major, minor, LEAST_MAJOR, LEAST_MINOR),
          null);
    }
    long packet = Sql.number(connection, "SELECT @@max_allowed_packet");
    if (packet < LEAST_PACKET) {
      throw new StoreException(
          Kind.UNAVAILABLE,
          "max_allowed_packet of the database is %,d (expected: at least %,d)"
              .formatted(packet, LEAST_PACKET),
          null);
    }
  }

  @Override
  public List<String> migration(int format) {
    return SchemaSql.script(MariaDbSchema.class, "mariadb-" + format + ".sql");
  }

  @Override
  public void lock(Connection connection) throws SQLException {
    String lock = "SELECT get_lock(" + SCHEMA_LOCK + ", " + SCHEMA_SECONDS + ")";
    if (Sql.number(connection, lock) != 1) {
      throw new StoreException(
          Kind.TRANSIENT, "another node has been creating the tables for a minute", null);
    }
  }

  @Override
  public void unlock(Connection connection) throws SQLException {
    connection.rollback();
    Sql.execute(connection, "UNLOCK TABLES");
    Sql.execute(connection, "DO release_lock(" + SCHEMA_LOCK + ")");
  }

  /**
   * Gives a statement exclusive use of the table. Transactions that begin meanwhile wait too, so it
   * waits for at most 1 s, which is MariaDB's minimum.
   */
  @Override
  public List<String> exclusively(String statement) {
    return List.of(
        "LOCK TABLES timewheel_meta WRITE, timewheel_node READ WAIT 1;",
        statement,
        "UNLOCK TABLES;");
  }

  /**
   * Returns whether the tables were completely created. Tables without rows come from an incomplete
   * creation.
   */
  @Override
  public boolean exists(Connection connection) throws SQLException {
    String tables =
        "SELECT count(*) FROM information_schema.tables"
            + " WHERE table_schema = database() AND table_name = 'timewheel_meta'";
    return Sql.number(connection, tables) > 0
        && Sql.number(connection, "SELECT count(*) FROM timewheel_meta") > 0;
  }
}
