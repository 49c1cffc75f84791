// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.schema;

import io.timewheel.durable.jdbc.internal.rows.Formats;
import io.timewheel.durable.jdbc.internal.rows.NodeId;
import io.timewheel.durable.jdbc.internal.server.SchemaSql;
import io.timewheel.durable.jdbc.internal.server.ServerErrors;
import io.timewheel.durable.jdbc.internal.server.ServerParts;
import io.timewheel.durable.jdbc.internal.transaction.Transactions;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreException.Kind;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Creates the tables, prepares them for a release, and switches them to its format.
 *
 * <p>The step of a format <em>prepares</em> the tables for it. A step only adds to the tables, so
 * releases that do not know it continue to work. The format in use is the one that nodes write. An
 * operator switches it when all nodes know the new one.
 */
public final class Schema {
  private static final int FIRST = 6;

  private final Transactions transactions;
  private final Formats formats;
  private final ServerErrors errors;
  private final SchemaSql sql;
  private final String nowMillis;
  private final int shards;

  /**
   * Creates the schema of a store.
   *
   * @param shards the number of shards of new tables
   */
  public Schema(Transactions transactions, ServerParts server, int shards) {
    this.transactions = transactions;
    formats = server.formats();
    errors = server.errors();
    sql = server.schema();
    nowMillis = server.expressions().nowMillis();
    this.shards = shards;
  }

  /**
   * The state of the tables.
   *
   * @param format the format in use
   * @param prepared the newest format for which they are prepared
   */
  public record Tables(int format, int prepared, int shards) {}

  /** The result of a migration, and the outdated nodes that prevent the next step. */
  private record Done(Tables tables, List<String> outdated) {}

  /**
   * Returns the statements that {@link #migrate} would execute now, for a session in auto-commit
   * mode.
   *
   * @return an SQL script; empty if there is nothing to do
   */
  public String sql(boolean finish) {
    check();
    List<String> plan = plan(transactions.read(this::look).orElse(null), finish);
    return plan.isEmpty() ? "" : "START TRANSACTION;\n" + String.join("\n", plan) + "\nCOMMIT;\n";
  }

  /**
   * Creates and prepares the tables, if needed.
   *
   * @return the number of shards
   */
  public int open() {
    check();
    Optional<Tables> found = transactions.read(this::look);
    if (found.isPresent() && isPrepared(found.get())) {
      return found.get().shards();
    }
    try {
      return prepare(false).shards();
    } catch (StoreException e) {
      throw new StoreException(
          e.kind(),
          "the tables are not ready for this release (`timewheel store migrate` prepares them): "
              + e.getMessage(),
          e);
    }
  }

  private boolean isPrepared(Tables tables) {
    return tables.prepared() >= formats.newest();
  }

  /**
   * Creates and prepares the tables, if needed.
   *
   * @param finish whether to switch to the newest format, too. The switch is tried only once,
   *     because other transactions wait during the try
   */
  public Tables migrate(boolean finish) {
    check();
    return prepare(finish);
  }

  private void check() {
    boolean unused =
        transactions.read(
            connection -> {
              sql.check(connection);
              return true;
            });
  }

  private Tables prepare(boolean finish) {
    int newest = formats.newest();
    Done done = finish ? finish() : transactions.write(connection -> migrate(connection, false));
    if (finish && done.tables().format() < newest) {
      throw new StoreException(
          Kind.REJECTED,
          "format %d stays in use, because live nodes do not know format %d: %s"
              .formatted(done.tables().format(), newest, String.join(", ", done.outdated())),
          null);
    }
    return done.tables();
  }

  private Done finish() {
    try {
      return transactions.writeOnce(connection -> migrate(connection, true));
    } catch (StoreException e) {
      if (e.getCause() instanceof SQLException cause && errors.isHeldUp(cause)) {
        throw new StoreException(
            e.kind(), "an earlier transaction is still open; try again: " + e.getMessage(), cause);
      }
      throw e;
    }
  }

  private Done migrate(Connection connection, boolean finish) throws SQLException {
    sql.lock(connection);
    try {
      execute(connection, plan(look(connection).orElse(null), finish));
      Done done = new Done(look(connection).orElseThrow(), outdated(connection));
      connection.commit(); // before the lock is released
      return done;
    } finally {
      sql.unlock(connection);
    }
  }

  private static void execute(Connection connection, List<String> plan) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String sql : plan) {
        statement.execute(sql);
      }
    }
  }

  /** Plans the statements. Each step can be repeated, because it records its completion last. */
  private List<String> plan(@Nullable Tables found, boolean finish) {
    List<String> plan = new ArrayList<>();
    if (found == null) {
      plan.addAll(sql.migration(FIRST));
      plan.addAll(shardRows());
    }
    Tables from = found == null ? new Tables(FIRST, FIRST, shards) : found;
    int newest = formats.newest();
    for (int step = from.prepared() + 1; step <= newest; step++) {
      plan.addAll(sql.migration(step));
      plan.add("UPDATE timewheel_meta SET value = " + step + " WHERE name = 'prepared';");
    }
    if (from.format() < newest && (finish || found == null)) {
      plan.addAll(
          sql.exclusively(
              "UPDATE timewheel_meta SET value = "
                  + newest
                  + " WHERE name = 'format' AND NOT EXISTS (SELECT 1"
                  + fromOutdated()
                  + ");"));
    }
    return plan;
  }

  private List<String> shardRows() {
    StringBuilder rows = new StringBuilder("INSERT INTO timewheel_shard (shard, epoch) VALUES");
    for (int shard = 0; shard < shards; shard++) {
      rows.append(shard == 0 ? " (" : ", (").append(shard).append(", 0)");
    }
    return List.of(
        "INSERT INTO timewheel_meta VALUES ('shards', " + shards + ");",
        rows.append(';').toString());
  }

  private String fromOutdated() {
    return " FROM timewheel_node WHERE newest_format < "
        + formats.newest()
        + " AND lease_until > "
        + nowMillis;
  }

  private List<String> outdated(Connection connection) throws SQLException {
    try (PreparedStatement statement =
            connection.prepareStatement("SELECT name, node" + fromOutdated() + " ORDER BY node");
        ResultSet rows = statement.executeQuery()) {
      List<String> nodes = new ArrayList<>();
      while (rows.next()) {
        nodes.add(NodeId.of(rows.getString(1), rows.getLong(2)));
      }
      return nodes;
    }
  }

  /** Reads the state of the tables. Throws if this release does not know their format. */
  private Optional<Tables> look(Connection connection) throws SQLException {
    if (!sql.exists(connection)) {
      return Optional.empty();
    }
    Map<String, Long> meta = new HashMap<>();
    try (PreparedStatement statement =
            connection.prepareStatement("SELECT name, value FROM timewheel_meta");
        ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        meta.put(rows.getString(1), rows.getLong(2));
      }
    }
    Long format = meta.get("format");
    Long prepared = meta.get("prepared");
    Long count = meta.get("shards");
    if (format == null || prepared == null || count == null) {
      throw new StoreException(
          Kind.UNAVAILABLE, "the tables are incomplete, or older than the first release", null);
    }
    formats.check(format);
    return Optional.of(new Tables(format.intValue(), prepared.intValue(), count.intValue()));
  }
}
