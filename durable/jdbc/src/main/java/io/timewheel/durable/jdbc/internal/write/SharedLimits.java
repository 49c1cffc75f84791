// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.write;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.jdbc.internal.server.Queries;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.SharedLimit;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.format.Codes;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Enforces limits that all nodes share. A transaction locks the row of a limit before it reads the
 * number of running attempts. So the transactions of one limit run one after the other.
 */
final class SharedLimits {
  private final Queries queries;

  SharedLimits(Queries queries) {
    this.queries = queries;
  }

  /** The tokens of the locked limits, by name. */
  static final class Locked {
    private final Map<String, SharedLimit.Tokens> tokens = new HashMap<>();
  }

  /**
   * Reduces requests to the number of timers that their limits allow.
   *
   * @param requests the requests; those of a limited queue are removed, or reduced to fewer timers
   */
  Locked admit(Connection connection, List<LeaseRequest> requests, long nowMillis)
      throws SQLException {
    Locked locked = new Locked();
    Map<String, SharedLimit> limits = new TreeMap<>(); // all transactions lock in this order
    for (LeaseRequest request : requests) {
      if (request.limit() != null) {
        limits.put(request.scope(), request.limit());
      }
    }
    Map<String, Integer> admitted = new HashMap<>();
    for (Map.Entry<String, SharedLimit> limit : limits.entrySet()) {
      SharedLimit.Tokens tokens = lock(connection, limit.getKey(), limit.getValue(), nowMillis);
      locked.tokens.put(limit.getKey(), tokens);
      admitted.put(
          limit.getKey(), limit.getValue().admitted(tokens, running(connection, limit.getKey())));
    }
    if (!limits.isEmpty()) {
      requests.replaceAll(
          request -> {
            int most = admitted.getOrDefault(request.scope(), request.max());
            return most >= request.max() || most == 0 ? request : request.max(most);
          });
      requests.removeIf(request -> admitted.getOrDefault(request.scope(), 1) == 0);
    }
    return locked;
  }

  /** Subtracts the tokens of timers that were claimed. */
  static void claimed(Connection connection, Locked locked, Map<String, Integer> claims)
      throws SQLException {
    for (Map.Entry<String, SharedLimit.Tokens> limit : locked.tokens.entrySet()) {
      int claimed = claims.getOrDefault(limit.getKey(), 0);
      if (claimed > 0) {
        store(connection, limit.getKey(), limit.getValue().minus(claimed));
      }
    }
  }

  private SharedLimit.Tokens lock(
      Connection connection, String name, SharedLimit limit, long nowMillis) throws SQLException {
    SharedLimit.Tokens tokens = lockRow(connection, name);
    if (tokens == null) {
      try (PreparedStatement insert = connection.prepareStatement(queries.insertLimit())) {
        insert.setString(1, name);
        insert.setDouble(2, limit.burst());
        insert.setLong(3, nowMillis);
        insert.executeUpdate();
      }
      tokens = requireNonNull(lockRow(connection, name));
    }
    return limit.refilled(tokens, nowMillis);
  }

  private static SharedLimit.@Nullable Tokens lockRow(Connection connection, String name)
      throws SQLException {
    try (PreparedStatement select =
        connection.prepareStatement(
            "SELECT tokens, at_millis FROM timewheel_limit WHERE name = ? FOR UPDATE")) {
      select.setString(1, name);
      try (ResultSet row = select.executeQuery()) {
        return row.next() ? new SharedLimit.Tokens(row.getDouble(1), row.getLong(2)) : null;
      }
    }
  }

  private static void store(Connection connection, String name, SharedLimit.Tokens tokens)
      throws SQLException {
    try (PreparedStatement update =
        connection.prepareStatement(
            "UPDATE timewheel_limit SET tokens = ?, at_millis = ? WHERE name = ?")) {
      update.setDouble(1, tokens.count());
      update.setLong(2, tokens.atMillis());
      update.setString(3, name);
      update.executeUpdate();
    }
  }

  private static long running(Connection connection, String scope) throws SQLException {
    try (PreparedStatement sum =
        connection.prepareStatement(
            "SELECT sum(delta) FROM timewheel_count WHERE namespace = ? AND state = ?")) {
      sum.setString(1, scope);
      sum.setInt(2, Codes.STATES.of(TimerState.RUNNING));
      return number(sum);
    }
  }

  private static long number(PreparedStatement statement) throws SQLException {
    try (ResultSet row = statement.executeQuery()) {
      row.next();
      return row.getLong(1);
    }
  }

  /** Implements {@link TimerStore#acquire}. */
  long acquire(
      Connection connection,
      String name,
      SharedLimit limit,
      String holder,
      long untilMillis,
      long nowMillis)
      throws SQLException {
    SharedLimit.Tokens tokens = lock(connection, name, limit, nowMillis);
    update(
        connection,
        "DELETE FROM timewheel_permit WHERE name = ? AND until_millis <= ?",
        name,
        null,
        nowMillis);
    long running;
    try (PreparedStatement count =
        connection.prepareStatement("SELECT count(*) FROM timewheel_permit WHERE name = ?")) {
      count.setString(1, name);
      running = number(count);
    }
    if (limit.admitted(tokens, running) == 0) {
      return limit.waitMillis(tokens.count());
    }
    store(connection, name, tokens.minus(1));
    update(
        connection,
        "INSERT INTO timewheel_permit (name, holder, until_millis) VALUES (?, ?, ?)",
        name,
        holder,
        untilMillis);
    return 0;
  }

  private static void update(
      Connection connection, String sql, String name, @Nullable String holder, long millis)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      int at = 1;
      statement.setString(at++, name);
      if (holder != null) {
        statement.setString(at++, holder);
      }
      statement.setLong(at, millis);
      statement.executeUpdate();
    }
  }

  /** Implements {@link TimerStore#release}. */
  static void release(Connection connection, String name, String holder) throws SQLException {
    try (PreparedStatement delete =
        connection.prepareStatement("DELETE FROM timewheel_permit WHERE name = ? AND holder = ?")) {
      delete.setString(1, name);
      delete.setString(2, holder);
      delete.executeUpdate();
    }
  }
}
