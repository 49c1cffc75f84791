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
 * The tables: made when they are missing, prepared for a release, and switched to its format.
 *
 * <p>They are <em>prepared</em> for a format by its step, which only adds: releases that do not
 * know of it work on. The format in use is what nodes write; it is switched by hand when all nodes
 * know the new one.
 */
public final class Schema {
  private static final int FIRST = 3;

  private final Transactions transactions;
  private final Formats formats;
  private final ServerErrors errors;
  private final SchemaSql sql;
  private final String nowMillis;
  private final int shards;

  /**
   * Knows how to make tables.
   *
   * @param shards how many shards they are to have
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
   * What the tables are.
   *
   * @param format the one in use
   * @param prepared the newest one that could be
   */
  public record Tables(int format, int prepared, int shards) {}

  /** What became of the tables, and which nodes stand in the way of more. */
  private record Done(Tables tables, List<String> outdated) {}

  /**
   * What {@link #migrate} would execute now, for a session that commits each statement by itself.
   *
   * @return empty if that is nothing
   */
  public String sql(boolean finish) {
    check();
    List<String> plan = plan(transactions.read(this::look).orElse(null), finish);
    return plan.isEmpty() ? "" : "START TRANSACTION;\n" + String.join("\n", plan) + "\nCOMMIT;\n";
  }

  /**
   * Makes and prepares the tables, if that was not done.
   *
   * @return how many shards they have
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
   * Makes and prepares the tables, if that was not done.
   *
   * @param finish whether to switch to the newest format, too: others wait meanwhile, so that is
   *     tried once
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
          "format %d stays in use, because nodes live that do not know format %d: %s"
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
            e.kind(),
            "a transaction is open that began before; try again: " + e.getMessage(),
            cause);
      }
      throw e;
    }
  }

  private Done migrate(Connection connection, boolean finish) throws SQLException {
    sql.lock(connection);
    try {
      execute(connection, plan(look(connection).orElse(null), finish));
      Done done = new Done(look(connection).orElseThrow(), outdated(connection));
      connection.commit(); // before anybody else may look
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

  /** Each step may be repeated: what it says of itself comes last. */
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
          sql.alone(
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

  /** Looks for the tables, and refuses those of a format that this release does not know. */
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
          Kind.UNAVAILABLE, "the tables are not whole, or older than the first release", null);
    }
    formats.check(format);
    return Optional.of(new Tables(format.intValue(), prepared.intValue(), count.intValue()));
  }
}
