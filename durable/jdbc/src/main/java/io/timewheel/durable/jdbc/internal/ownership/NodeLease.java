// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.ownership;

import io.timewheel.durable.jdbc.internal.rows.Formats;
import io.timewheel.durable.jdbc.internal.rows.HandlerLines;
import io.timewheel.durable.jdbc.internal.server.CommitProof;
import io.timewheel.durable.jdbc.internal.server.Expressions;
import io.timewheel.durable.jdbc.internal.server.ServerParts;
import io.timewheel.durable.jdbc.internal.server.TransactionSql;
import io.timewheel.durable.jdbc.internal.sql.NodeClock;
import io.timewheel.durable.jdbc.internal.transaction.Transactions;
import io.timewheel.durable.spi.StoreListener;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The node lease of this node: takes it, renews it, and knows how long it lasts. */
public final class NodeLease {
  private final Transactions transactions;
  private final Formats formats;
  private final TransactionSql sql;
  private final Expressions expressions;
  private final CommitProof commits;
  private final OwnershipRows rows;
  private final NodeClock clock;
  private final DatabaseClock time;
  private final Settings settings;

  private volatile @Nullable Lease current;

  /** The settings of node leases. */
  public record Settings(
      String name, Duration lease, Duration renewal, Duration margin, Duration drain) {
    public static Settings of(String name, Duration lease) {
      return new Settings(
          name, lease, Duration.ofSeconds(3), Duration.ofSeconds(1), Duration.ofSeconds(10));
    }
  }

  /**
   * A granted node lease.
   *
   * @param nonce a random number of this lease, which differs between servers
   * @param server the server that granted it
   * @param sentNanos the monotonic time before the request, in nanoseconds
   * @param sentMillis the wall-clock time before the request, in milliseconds
   */
  record Lease(long node, long nonce, String server, long sentNanos, long sentMillis) {}

  NodeLease(
      Transactions transactions,
      ServerParts server,
      OwnershipRows rows,
      NodeClock clock,
      DatabaseClock time,
      Settings settings) {
    this.transactions = transactions;
    formats = server.formats();
    sql = server.transactions();
    expressions = server.expressions();
    commits = server.commits();
    this.rows = rows;
    this.clock = clock;
    this.time = time;
    this.settings = settings;
  }

  @Nullable Lease current() {
    return current;
  }

  /** Joins the cluster under a new number. */
  void join(StoreListener engine) {
    long sentNanos = clock.nanoTime();
    long sentMillis = clock.millis();
    long nonce = Epoch.nonce();
    current =
        transactions.write(
            connection -> {
              sql.begin(connection);
              rows.purgeLostNodes(connection);
              try (PreparedStatement statement =
                  connection.prepareStatement(
                      "INSERT INTO timewheel_node"
                          + " (node, nonce, name, newest_format, client, handlers, lease_until,"
                          + " clock_offset) VALUES ("
                          + expressions.nextIncarnation()
                          + ", ?, ?, ?, ?, ?, "
                          + expressions.nowMillis()
                          + " + ?, ?) RETURNING node, lease_until, "
                          + commits.writingServer())) {
                statement.setLong(1, nonce);
                statement.setString(2, settings.name());
                statement.setInt(3, formats.newest());
                statement.setBoolean(4, !engine.ownsShards());
                statement.setString(5, HandlerLines.format(engine.handlers()));
                statement.setLong(6, settings.lease().toMillis());
                statement.setLong(7, time.offsetMillis());
                long askedNanos = clock.nanoTime();
                try (ResultSet made = statement.executeQuery()) {
                  made.next();
                  read(made.getLong(2), askedNanos, clock.nanoTime());
                  return new Lease(
                      made.getLong(1), nonce, made.getString(3), sentNanos, sentMillis);
                }
              }
            });
  }

  private void read(long leaseUntil, long askedNanos, long answeredNanos) {
    time.keep(DatabaseTime.of(leaseUntil - settings.lease().toMillis(), askedNanos, answeredNanos));
  }

  /** Reads the time at which the lease was renewed. */
  private void readRenewed(Connection connection, long node, long askedNanos, long answeredNanos)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement("SELECT lease_until FROM timewheel_node WHERE node = ?")) {
      statement.setLong(1, node);
      try (ResultSet renewed = statement.executeQuery()) {
        renewed.next();
        read(renewed.getLong(1), askedNanos, answeredNanos);
      }
    }
  }

  /** Renews the node lease. Returns false if it has expired, or belongs to another server. */
  boolean renew(Lease last) {
    long sentNanos = clock.nanoTime();
    long sentMillis = clock.millis();
    Optional<Lease> renewed =
        transactions.write(connection -> renewed(connection, last, sentNanos, sentMillis));
    renewed.ifPresent(lease -> current = lease);
    return renewed.isPresent();
  }

  private Optional<Lease> renewed(
      Connection connection, Lease last, long sentNanos, long sentMillis) throws SQLException {
    sql.begin(connection); // a stalled thread must not delay others longer than this
    OwnershipRows.Row row = rows.lock(connection, last.node());
    if (row == null || row.nonce() != last.nonce()) {
      return Optional.empty(); // the lease was lost in a failover; another node may have the number
    }
    if (!row.server().equals(last.server())) {
      // This server may lack the last commits of the former one, such as the completion of an
      // attempt. Such an attempt would stay open until the epoch changes.
      rows.delete(connection, last.node());
      return Optional.empty();
    }
    try (PreparedStatement statement =
        connection.prepareStatement(
            "UPDATE timewheel_node SET lease_until = "
                + expressions.nowMillis()
                + " + ?, clock_offset = ? WHERE node = ? AND lease_until > "
                + expressions.nowMillis())) {
      statement.setLong(1, settings.lease().toMillis());
      statement.setLong(2, time.offsetMillis());
      statement.setLong(3, last.node());
      long askedNanos = clock.nanoTime();
      if (statement.executeUpdate() == 0) {
        return Optional.empty();
      }
      readRenewed(connection, last.node(), askedNanos, clock.nanoTime());
      return Optional.of(
          new Lease(last.node(), last.nonce(), last.server(), sentNanos, sentMillis));
    }
  }

  /** Returns the guaranteed remaining time of the node lease, less the margin, in nanoseconds. */
  long leftNanos() {
    Lease last = current;
    if (last == null) {
      return 0;
    }
    long passedNanos = clock.nanoTime() - last.sentNanos();
    long passedMillis = Math.max(passedNanos / 1_000_000, clock.millis() - last.sentMillis());
    long leftMillis =
        settings.lease().toMillis() - settings.margin().toMillis() - Math.max(0, passedMillis);
    return leftMillis * 1_000_000;
  }

  /** Returns whether the node lease must be renewed now. */
  boolean wantsRenewal() {
    Lease last = current;
    return last != null && clock.nanoTime() - last.sentNanos() >= settings.renewal().toNanos();
  }

  /** Ends the node lease and frees the shards of the node. */
  void leave() {
    Lease last = current;
    current = null;
    if (last != null) {
      transactions.change(connection -> leave(connection, last));
    }
  }

  private void leave(Connection connection, Lease last) throws SQLException {
    OwnershipRows.Row row = rows.lock(connection, last.node());
    if (row != null && row.nonce() == last.nonce()) {
      rows.delete(connection, last.node());
    }
  }
}
