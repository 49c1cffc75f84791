// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import io.timewheel.durable.jdbc.internal.ownership.Epoch;
import io.timewheel.durable.jdbc.internal.rows.HandlerLines;
import io.timewheel.durable.jdbc.internal.rows.NodeId;
import io.timewheel.durable.spi.record.HandlerNames;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Contains the nodes that share the database, and the owners of the shards, as of one moment by the
 * database and its clock.
 *
 * @param nodes the nodes in the order in which they joined, including lost ones for one day
 * @param shards all shards, in order
 */
public record Membership(List<Node> nodes, List<Shard> shards) {
  /**
   * Copies the lists.
   *
   * @param nodes the nodes in the order in which they joined, including lost ones for one day
   * @param shards all shards, in order
   */
  public Membership {
    nodes = List.copyOf(nodes);
    shards = List.copyOf(shards);
  }

  /**
   * Describes a node.
   *
   * @param id the node's name and a number; after the node lease has expired, the node returns with
   *     another number
   * @param self true if this is the node that made the call
   * @param alive true if the node has a node lease
   * @param leaseUntil when the node lease expires, or has expired
   * @param clockOffset how far the database's clock was ahead of the node's clock
   * @param client true if the node takes no shards and runs no handlers
   * @param handlers the handlers that the node runs
   */
  public record Node(
      String id,
      boolean self,
      boolean alive,
      Instant leaseUntil,
      Duration clockOffset,
      boolean client,
      HandlerNames handlers) {}

  /**
   * Describes a shard.
   *
   * @param shard its number, from 0
   * @param owner the id of the owner, which may be a lost node; null if there is no owner
   * @param epoch how often the shard was taken
   */
  public record Shard(int shard, @Nullable String owner, long epoch) {}

  /** Reads the membership by one statement, so that it is consistent. */
  static Membership read(Connection connection, String nowMillis, long self) throws SQLException {
    List<Node> nodes = new ArrayList<>();
    List<Shard> shards = new ArrayList<>();
    String sql =
        "SELECT n.node, n.name, n.lease_until, n.clock_offset, n.lease_until > "
            + nowMillis
            + ", s.shard, s.epoch, n.client, n.handlers FROM timewheel_node n"
            + " LEFT JOIN timewheel_shard s ON s.owner = n.node"
            + " UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, s.shard, s.epoch, NULL, NULL"
            + " FROM timewheel_shard s LEFT JOIN timewheel_node n ON n.node = s.owner"
            + " WHERE n.node IS NULL ORDER BY 1, 6";
    try (PreparedStatement statement = connection.prepareStatement(sql);
        ResultSet rows = statement.executeQuery()) {
      long last = 0;
      String owner = null;
      while (rows.next()) {
        long node = rows.getLong(1); // 0 for null: a shard without an owner
        if (node != last) {
          last = node;
          owner = node == 0 ? null : NodeId.of(rows.getString(2), node);
          if (owner != null) {
            Instant leaseUntil = Instant.ofEpochMilli(rows.getLong(3));
            Duration clockOffset = Duration.ofMillis(rows.getLong(4));
            nodes.add(
                new Node(
                    owner,
                    node == self,
                    rows.getBoolean(5),
                    leaseUntil,
                    clockOffset,
                    rows.getBoolean(8),
                    HandlerLines.parse(rows.getString(9))));
          }
        }
        int shard = rows.getInt(6);
        if (!rows.wasNull()) { // a node may own no shards
          shards.add(new Shard(shard, owner, Epoch.count(rows.getLong(7))));
        }
      }
    }
    shards.sort(Comparator.comparingInt(Shard::shard));
    return new Membership(nodes, shards);
  }
}
