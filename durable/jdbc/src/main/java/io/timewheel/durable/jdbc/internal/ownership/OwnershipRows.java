// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.ownership;

import io.timewheel.durable.jdbc.internal.rows.HandlerLines;
import io.timewheel.durable.jdbc.internal.server.CommitProof;
import io.timewheel.durable.jdbc.internal.server.Expressions;
import io.timewheel.durable.jdbc.internal.server.ServerParts;
import io.timewheel.durable.jdbc.internal.server.TransactionSql;
import io.timewheel.durable.spi.record.HandlerNames;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Executes the statements by which {@link Ownership} changes owners of shards. */
final class OwnershipRows {
  /** The result if the shard was not taken. Valid epochs begin at 1. */
  static final long NOT_TAKEN = 0;

  /** How long the row of a lost node is kept for lists of nodes. */
  private static final long RETENTION_MILLIS = TimeUnit.DAYS.toMillis(1);

  private final TransactionSql sql;
  private final Expressions expressions;
  private final CommitProof commits;

  OwnershipRows(ServerParts server) {
    sql = server.transactions();
    expressions = server.expressions();
    commits = server.commits();
  }

  /** Removes nodes that have been lost for that time and own no shards. */
  void purgeLostNodes(Connection connection) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "DELETE FROM timewheel_node WHERE lease_until < "
                + expressions.nowMillis()
                + " - ? AND node NOT IN"
                + " (SELECT owner FROM timewheel_shard WHERE owner IS NOT NULL)")) {
      statement.setLong(1, RETENTION_MILLIS);
      statement.executeUpdate();
    }
  }

  /**
   * The row of a node.
   *
   * @param server the server that has the row
   * @param nonce the random number of the node lease
   */
  record Row(String server, long nonce) {}

  /**
   * Locks the row of a node. A statement that waits for the lock evaluates the time as of the start
   * of the wait, so callers compare times in the next statement.
   *
   * @return the row; null if there is none
   */
  @Nullable Row lock(Connection connection, long node) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "SELECT "
                + commits.writingServer()
                + ", nonce FROM timewheel_node WHERE node = ? FOR UPDATE")) {
      statement.setLong(1, node);
      try (ResultSet rows = statement.executeQuery()) {
        return rows.next() ? new Row(rows.getString(1), rows.getLong(2)) : null;
      }
    }
  }

  /**
   * A shard in the database.
   *
   * @param alive true if the owner has a node lease
   */
  record Shard(int shard, @Nullable Long owner, long epoch, boolean alive) {}

  /**
   * The cluster at one moment.
   *
   * @param nodes the number of live nodes that take shards
   * @param shards all shards
   * @param handlers the handlers of live nodes
   */
  record Look(int nodes, List<Shard> shards, HandlerNames handlers) {}

  /** Reads the owners of shards, and the handlers of nodes. */
  Look look(Connection connection) throws SQLException {
    List<Shard> shards = new ArrayList<>();
    String sql =
        "SELECT s.shard, s.owner, s.epoch, COALESCE(n.lease_until > "
            + expressions.nowMillis()
            + ", false), (SELECT count(*) FROM timewheel_node a WHERE a.lease_until > "
            + expressions.nowMillis()
            + " AND NOT a.client) FROM timewheel_shard s LEFT JOIN timewheel_node n ON n.node ="
            + " s.owner ORDER BY s.shard";
    int nodes = 0;
    try (PreparedStatement statement = connection.prepareStatement(sql);
        ResultSet found = statement.executeQuery()) {
      while (found.next()) {
        long owner = found.getLong(2);
        Long ownerOrNull = found.wasNull() ? null : owner;
        shards.add(new Shard(found.getInt(1), ownerOrNull, found.getLong(3), found.getBoolean(4)));
        nodes = found.getInt(5);
      }
    }
    return new Look(nodes, shards, handlers(connection));
  }

  private HandlerNames handlers(Connection connection) throws SQLException {
    List<HandlerNames> all = new ArrayList<>();
    try (PreparedStatement statement =
            connection.prepareStatement(
                "SELECT handlers FROM timewheel_node WHERE lease_until > "
                    + expressions.nowMillis());
        ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        all.add(HandlerLines.parse(rows.getString(1)));
      }
    }
    return HandlerNames.union(all);
  }

  /**
   * Takes a shard if it is free.
   *
   * @param nonce the random number of the node lease, because another node may get the same node
   *     number
   * @param server the server that granted the lease, which is invalid on another server
   * @return the new epoch, or {@link #NOT_TAKEN}
   */
  long take(Connection connection, long node, long nonce, String server, Shard row)
      throws SQLException {
    sql.begin(connection);
    Long former = row.owner();
    if (former != null && former != node && isAlive(connection, former)) {
      return NOT_TAKEN;
    }
    Row own = aliveRow(connection, node);
    if (!new Row(server, nonce).equals(own)) {
      return NOT_TAKEN;
    }
    long epoch = Epoch.next(row.epoch(), nonce);
    try (PreparedStatement statement =
        connection.prepareStatement(
            "UPDATE timewheel_shard SET owner = ?, epoch = ? WHERE shard = ? AND epoch = ?"
                + " AND (owner IS NULL OR owner = ?)")) { // free by now, or unchanged
      statement.setLong(1, node);
      statement.setLong(2, epoch);
      statement.setInt(3, row.shard());
      statement.setLong(4, row.epoch());
      statement.setLong(5, former == null ? node : former);
      return statement.executeUpdate() == 1 ? epoch : NOT_TAKEN;
    }
  }

  private boolean isAlive(Connection connection, long node) throws SQLException {
    return aliveRow(connection, node) != null;
  }

  /** {@return the row of a node with a node lease, which stays valid until the transaction ends} */
  private @Nullable Row aliveRow(Connection connection, long node) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "SELECT "
                + commits.writingServer()
                + ", nonce, lease_until > "
                + expressions.nowMillis()
                + " FROM timewheel_node WHERE node = ? "
                + expressions.forShare())) {
      statement.setLong(1, node);
      try (ResultSet rows = statement.executeQuery()) {
        return rows.next() && rows.getBoolean(3)
            ? new Row(rows.getString(1), rows.getLong(2))
            : null;
      }
    }
  }

  /**
   * Gives a shard away.
   *
   * @return whether it belonged to this node
   */
  boolean give(Connection connection, long node, int shard, long epoch) throws SQLException {
    sql.begin(connection);
    try (PreparedStatement statement =
        connection.prepareStatement(
            "UPDATE timewheel_shard SET owner = NULL WHERE shard = ? AND owner = ? AND epoch ="
                + " ?")) {
      statement.setInt(1, shard);
      statement.setLong(2, node);
      statement.setLong(3, epoch);
      return statement.executeUpdate() == 1;
    }
  }

  /** Removes a node, which frees its shards. */
  void delete(Connection connection, long node) throws SQLException {
    for (String sql :
        List.of(
            "UPDATE timewheel_shard SET owner = NULL WHERE owner = ?",
            "DELETE FROM timewheel_node WHERE node = ?")) {
      try (PreparedStatement statement = connection.prepareStatement(sql)) {
        statement.setLong(1, node);
        statement.executeUpdate();
      }
    }
  }
}
