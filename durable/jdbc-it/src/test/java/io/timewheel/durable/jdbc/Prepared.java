// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import io.timewheel.durable.jdbc.testing.Database;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * A database whose tables exist and contain only the rows that the store inserts into new tables. A
 * test returns it, and the next test gets it again: deleting a few rows takes a hundredth of the
 * time that creating the tables takes.
 *
 * <p>A returned database is dropped from use if a test has changed its schema, has inserted many
 * rows, or still has a transaction open.
 */
final class Prepared {
  static final int SHARDS = 4;

  /** More deleted rows would leave large tables behind, and change the plans of later tests. */
  private static final int MOST_ROWS = 500;

  private static final Pattern TABLE =
      Pattern.compile("CREATE TABLE (?:IF NOT EXISTS )?(timewheel_\\w+) (?!PARTITION OF)");
  private static final Pattern INITIAL_ROW = Pattern.compile("(?ms)^INSERT INTO .*?;$");

  private static final Map<Server, Deque<Prepared>> FREE = new EnumMap<>(Server.class);

  private final Server server;
  private final Database database;
  private final List<String> tables;
  private final List<String> initialRows;
  private final String fingerprint;

  private Prepared(Server server) {
    this.server = server;
    database = server.empty();
    JdbcTimerStoreBuilder builder = server.builder(database.dataSource()).shards(SHARDS);
    String script = builder.migration(false);
    tables = TABLE.matcher(script).results().map(match -> match.group(1)).toList();
    initialRows = INITIAL_ROW.matcher(script).results().map(MatchResult::group).toList();
    try (Connection connection = database.connect();
        Statement statement = connection.createStatement()) {
      statement.execute(script);
      fingerprint = fingerprint(statement);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** {@return a database that no other test uses} */
  static synchronized Prepared take(Server server) {
    Prepared free = FREE.computeIfAbsent(server, same -> new ArrayDeque<>()).poll();
    return free == null ? new Prepared(server) : free;
  }

  Database database() {
    return database;
  }

  /** Returns the database for the next test. All connections of this test must be closed. */
  void giveBack() {
    try (Connection connection = database.connect();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      statement.execute(server.waitBriefly());
      if (!isUnchanged(statement) || !empty(statement)) {
        System.out.println("The tables are not used again: a test has changed or filled them.");
        return;
      }
      connection.commit();
    } catch (SQLException e) {
      System.out.println("The tables are not used again: " + e); // a transaction may be open
      return;
    }
    synchronized (Prepared.class) {
      FREE.get(server).add(this);
    }
  }

  private boolean isUnchanged(Statement statement) throws SQLException {
    for (String table : texts(statement, server.otherTables())) {
      statement.execute("DROP TABLE " + table);
    }
    return fingerprint(statement).equals(fingerprint);
  }

  private String fingerprint(Statement statement) throws SQLException {
    return String.join("\n", texts(statement, server.fingerprint()));
  }

  private boolean empty(Statement statement) throws SQLException {
    int rows = 0;
    for (String table : tables) {
      rows += statement.executeUpdate("DELETE FROM " + table);
    }
    for (String row : initialRows) {
      statement.execute(row);
    }
    return rows <= MOST_ROWS;
  }

  private static List<String> texts(Statement statement, String query) throws SQLException {
    List<String> texts = new ArrayList<>();
    try (ResultSet rows = statement.executeQuery(query)) {
      while (rows.next()) {
        texts.add(rows.getString(1));
      }
    }
    return texts;
  }
}
