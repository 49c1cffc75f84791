// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.ownership;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.jdbc.internal.notifications.NotificationChannel;
import io.timewheel.durable.jdbc.internal.notifications.Notifications;
import io.timewheel.durable.jdbc.internal.rows.NodeId;
import io.timewheel.durable.jdbc.internal.server.Expressions;
import io.timewheel.durable.jdbc.internal.server.Queries;
import io.timewheel.durable.jdbc.internal.server.ServerParts;
import io.timewheel.durable.jdbc.internal.server.TransactionSql;
import io.timewheel.durable.jdbc.internal.sql.Log;
import io.timewheel.durable.jdbc.internal.sql.NodeClock;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.jdbc.internal.transaction.Transactions;
import io.timewheel.durable.spi.Scopes;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreListener;
import io.timewheel.durable.spi.TimerStore;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Applies pauses on all nodes. Each pause has a number. A node reads the pauses with each tick of
 * its lease thread and after each notification. It applies new pauses to its engine, and writes
 * their numbers into {@code timewheel_pause_seen}. It renews its node lease only if that succeeded.
 * The node that pauses waits until each node that had a node lease has confirmed the pause, or has
 * lost its lease. A node that joins later claims its timers after the pause.
 */
public final class ClusterPauses {
  private static final long WAIT_MILLIS = 20;

  private final Transactions transactions;
  private final TransactionSql sql;
  private final Queries queries;
  private final Expressions expressions;
  private final Ownership ownership;
  private final NodeClock clock;
  private final Transactions.Pauses waits;
  private final Duration limit;
  private final @Nullable NotificationChannel notifications;

  /** The numbers of the pauses that this node has confirmed. Guarded by this. */
  private final Map<String, Long> seen = new HashMap<>();

  /** The number by which this node has confirmed them; 0 before the first time. Guarded by this. */
  private long confirmedAs;

  private volatile @Nullable StoreListener listener;

  /**
   * @param limit how long a pause waits for the other nodes; longer than a node lease
   * @param notifications notifies the other nodes; null without notifications
   */
  public ClusterPauses(
      Transactions transactions,
      ServerParts server,
      Ownership ownership,
      NodeClock clock,
      Transactions.Pauses waits,
      Duration limit,
      @Nullable NotificationChannel notifications) {
    this.transactions = transactions;
    sql = server.transactions();
    queries = server.queries();
    expressions = server.expressions();
    this.ownership = ownership;
    this.clock = clock;
    this.waits = waits;
    this.limit = limit;
    this.notifications = notifications;
  }

  /** Registers the engine, which has no claims yet. */
  public synchronized void start(StoreListener engine) {
    listener = engine;
  }

  private Map<String, Long> numbers() {
    return transactions.read(
        connection -> {
          try (PreparedStatement statement =
                  connection.prepareStatement("SELECT scope, number FROM timewheel_pause");
              ResultSet rows = statement.executeQuery()) {
            Map<String, Long> found = new HashMap<>();
            while (rows.next()) {
              found.put(rows.getString(1), rows.getLong(2));
            }
            return found;
          }
        });
  }

  /** Applies new pauses to the engine, and confirms them. */
  public synchronized void confirm() {
    StoreListener engine = listener;
    long node = ownership.incarnation();
    if (engine == null || node == 0) {
      return;
    }
    if (node != confirmedAs) {
      seen.clear(); // a pause may await the new number of this node
      confirmedAs = node;
    }
    Map<String, Long> present = numbers();
    seen.keySet().retainAll(present.keySet());
    Map<String, Integer> running = new HashMap<>();
    present.forEach(
        (scope, number) -> {
          if (!number.equals(seen.get(scope))) {
            running.put(scope, engine.paused(scope));
          }
        });
    if (running.isEmpty()) {
      return;
    }
    boolean unused =
        transactions.write(
            connection -> {
              sql.begin(connection);
              for (Map.Entry<String, Integer> each : running.entrySet()) {
                long number = requireNonNull(present.get(each.getKey()));
                confirm(connection, each.getKey(), number, node, each.getValue());
              }
              return true;
            });
    seen.putAll(present);
  }

  private static void confirm(
      Connection connection, String scope, long number, long node, int running)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "DELETE FROM timewheel_pause_seen WHERE scope = ? AND node = ?")) {
      statement.setString(1, scope);
      statement.setLong(2, node);
      statement.executeUpdate();
    }
    try (PreparedStatement statement =
        connection.prepareStatement(
            "INSERT INTO timewheel_pause_seen (scope, node, number, running)"
                + " VALUES (?, ?, ?, ?)")) {
      statement.setString(1, scope);
      statement.setLong(2, node);
      statement.setLong(3, number);
      statement.setInt(4, running);
      statement.executeUpdate();
    }
  }

  /**
   * Pauses a scope, and waits for all nodes.
   *
   * @return the number of attempts of the scope that handlers are running
   */
  public int pause(String scope) {
    long number =
        transactions.write(
            connection -> {
              sql.begin(connection);
              queries.lockPauses(connection);
              queries.resume(connection, scope);
              return queries.pause(connection, scope);
            });
    notifyNodes();
    confirm();
    return await(scope, number);
  }

  /** Implements {@link TimerStore#resume}. */
  public void resume(String scope) {
    boolean unused =
        transactions.write(
            connection -> {
              sql.begin(connection);
              queries.resume(connection, scope);
              return true;
            });
  }

  private void notifyNodes() {
    if (notifications == null) {
      return;
    }
    try {
      boolean unused =
          transactions.writeOnce(
              connection -> {
                try (Statements to = new Statements(connection)) {
                  Statements.Answer<Long> unusedVersion = sql.begin(to, false);
                  notifications.send(to, Notifications.PAUSES);
                  to.send();
                }
                return true;
              });
    } catch (StoreException e) {
      Log.LOG.log(System.Logger.Level.DEBUG, "nodes see a pause with their next tick", e);
    }
  }

  /**
   * A node with a node lease.
   *
   * @param running the number of attempts that run there; null if the node has not confirmed the
   *     pause
   */
  private record Node(long number, String name, @Nullable Integer running) {}

  private int await(String scope, long number) {
    long begunNanos = clock.nanoTime();
    List<Node> nodes = nodes(scope, number);
    Set<Long> awaited = nodes.stream().map(Node::number).collect(Collectors.toSet());
    while (true) {
      List<Node> missing =
          nodes.stream()
              .filter(node -> node.running() == null && awaited.contains(node.number()))
              .toList();
      if (missing.isEmpty()) {
        return nodes.stream().mapToInt(node -> node.running() == null ? 0 : node.running()).sum();
      }
      boolean late = clock.nanoTime() - begunNanos >= limit.toNanos();
      if (late || Thread.currentThread().isInterrupted()) {
        throw new StoreException(
            StoreException.Kind.UNKNOWN,
            Scopes.describe(scope)
                + " is paused, but attempts may still begin on nodes that have not confirmed it "
                + (late ? "(limit: " + limit + "): " : "when the thread was interrupted: ")
                + missing.stream()
                    .map(node -> NodeId.of(node.name(), node.number()))
                    .collect(Collectors.joining(", ")),
            null);
      }
      waits.pause(WAIT_MILLIS);
      nodes = nodes(scope, number);
    }
  }

  /** Reads the nodes; returns none if the scope was resumed meanwhile. */
  private List<Node> nodes(String scope, long number) {
    return transactions.read(
        connection -> {
          try (PreparedStatement statement =
              connection.prepareStatement(
                  "SELECT n.node, n.name, s.running FROM timewheel_pause p"
                      + " JOIN timewheel_node n ON n.lease_until > "
                      + expressions.nowMillis()
                      + " LEFT JOIN timewheel_pause_seen s"
                      + " ON s.scope = p.scope AND s.node = n.node AND s.number >= ?"
                      + " WHERE p.scope = ?")) {
            statement.setLong(1, number);
            statement.setString(2, scope);
            try (ResultSet rows = statement.executeQuery()) {
              List<Node> found = new ArrayList<>();
              while (rows.next()) {
                int running = rows.getInt(3);
                Integer confirmed = rows.wasNull() ? null : running;
                found.add(new Node(rows.getLong(1), rows.getString(2), confirmed));
              }
              return found;
            }
          }
        });
  }
}
