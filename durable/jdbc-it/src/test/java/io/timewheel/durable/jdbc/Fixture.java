// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.jdbc.internal.ownership.Ownership;
import io.timewheel.durable.jdbc.internal.postgresql.PostgreSql;
import io.timewheel.durable.jdbc.internal.rows.Formats;
import io.timewheel.durable.jdbc.internal.sql.NodeClock;
import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.StoreListener;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.HandlerNames;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerDefinition;
import io.timewheel.durable.spi.record.TimerRecord;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A database with nodes. The test renews their node leases and sets their clocks, which do not
 * advance by themselves.
 */
final class Fixture implements AutoCloseable {
  /** In the future: a search for due timers may begin a minute before the real time. */
  static final long NOW = 4_000_000_000_000L;

  final Server server;
  private final @Nullable Prepared prepared;
  final Database database;
  final HikariDataSource pool;
  private final List<Node> nodes = new ArrayList<>();
  private boolean isClosed;

  /**
   * The duration of node leases. It counts by the clock of the database, which advances in real
   * time.
   */
  Duration lease = Duration.ofSeconds(10);

  /**
   * Creates a fixture whose database contains the tables, which have {@value Prepared#SHARDS}
   * shards.
   */
  Fixture(Server server) {
    this(server, Prepared.take(server));
  }

  /**
   * {@return a fixture whose database contains no tables, so that no former row affects new ones}
   */
  static Fixture withoutTables(Server server) {
    return new Fixture(server, null);
  }

  private Fixture(Server server, @Nullable Prepared prepared) {
    this.server = server;
    this.prepared = prepared;
    database = prepared == null ? server.empty() : prepared.database();
    pool = database.pool(8);
    pool.setMinimumIdle(3); // most tests need few connections, and some need them at once
  }

  /** The clocks of a node: ahead of the real ones by a time that the test sets. */
  static final class Clock implements NodeClock {
    private final long startNanos = System.nanoTime();
    private final long startMillis = System.currentTimeMillis();
    long aheadNanos;
    long aheadMillis;

    @Override
    public synchronized long nanoTime() {
      return startNanos + aheadNanos;
    }

    @Override
    public long millis() {
      return startMillis + aheadMillis;
    }

    synchronized void advanceMillis(long millis) {
      aheadNanos += millis * 1_000_000;
      aheadMillis += millis;
    }
  }

  /** A store, and its calls of the engine. */
  static final class Node implements StoreListener {
    final Clock clock = new Clock();
    final JdbcTimerStore store;
    final Map<Integer, Long> epochs = new TreeMap<>();
    final List<String> told = new ArrayList<>();
    final List<String> notifications = new CopyOnWriteArrayList<>();
    final Semaphore notified = new Semaphore(0);
    final List<HandlerNames> known = new ArrayList<>();
    HandlerNames handlers = HandlerNames.NONE;
    boolean client;
    Runnable onPause = () -> {};

    /** The exception of this engine for a notification; null for none. */
    RuntimeException failure;

    Runnable onAcquired = () -> {};
    CompletableFuture<Void> drained = CompletableFuture.completedFuture(null);

    Node(JdbcTimerStoreBuilder builder) {
      builder.clock = clock;
      builder.pauses = millis -> onPause.run();
      builder.withThreads = false;
      store = builder.open();
    }

    Ownership ownership() {
      return store.ownership();
    }

    @Override
    public HandlerNames handlers() {
      return handlers;
    }

    @Override
    public boolean ownsShards() {
      return !client;
    }

    @Override
    public void known(HandlerNames ofLiveSessions) {
      known.add(ofLiveSessions);
    }

    @Override
    public synchronized void acquired(int shard, long epoch) {
      epochs.put(shard, epoch);
      told.add("acquired " + shard);
      onAcquired.run();
    }

    @Override
    public synchronized CompletionStage<Void> releasing(int shard) {
      told.add("releasing " + shard);
      return drained;
    }

    @Override
    public synchronized void lost(int shard) {
      epochs.remove(shard);
      told.add("lost " + shard);
    }

    @Override
    public void paused(String scope) {
      told.add("paused " + scope);
    }

    @Override
    public void added(int shard, long fireAt) {
      if (failure != null) {
        throw failure;
      }
      notifications.add("added " + shard + " " + fireAt);
      notified.release();
    }

    @Override
    public void ready(String handler) {
      notifications.add("ready " + handler);
      notified.release();
    }

    @Override
    public void ready(String namespace, String queue) {
      notifications.add("ready " + namespace + " " + queue);
      notified.release();
    }

    Outcome commit(Change change) {
      return store.commit(List.of(change)).get(0);
    }

    /** Makes timers of the queue "orders" ready: "id-000", "id-001" and so on, in this order. */
    void makeReady(int count) {
      for (int from = 0; from < count; from += 1_000) {
        List<Change> made =
            IntStream.range(from, Math.min(count, from + 1_000))
                .<Change>mapToObj(i -> scheduleForQueue("id-%03d".formatted(i), NOW))
                .toList();
        store.commit(made);
        store.commit(made.stream().map(change -> readied(change.key(), NOW)).toList());
      }
    }

    Change readied(TimerKey key, long nowMillis) {
      TimerRecord record = store.get(key);
      long epoch = epochs.get(Shards.of(key, store.traits().shards()));
      return new Change.MakeReady(
          key, record.version(), record.revision(), epoch, TimerRecord.NONE, nowMillis);
    }

    Change.Begin begin(String id) {
      TimerRecord record = store.get(key(id));
      int shard = Shards.of(record.key(), store.traits().shards());
      return new Change.Begin(
          record.key(),
          record.version(),
          record.revision(),
          epochs.get(shard),
          new ClaimToken(7, record.revision()),
          TimerRecord.NONE,
          NOW);
    }
  }

  // Queues

  static Change.Schedule scheduleForQueue(String id, long dueAt) {
    Change.Schedule plain = schedule(id, dueAt);
    TimerDefinition definition = plain.definition();
    return new Change.Schedule(
        plain.key(),
        new TimerDefinition(
            "", "orders", true, new byte[0], Map.of(), definition.retry(), definition.missed(), 0),
        dueAt,
        false,
        Change.Condition.NONE,
        0,
        false,
        null,
        TimerRecord.NEVER,
        NOW);
  }

  JdbcTimerStoreBuilder builder(DataSource source) {
    JdbcTimerStoreBuilder builder = server.builder(source);
    builder.lease = lease;
    return builder;
  }

  Node open() {
    return open(pool, 4);
  }

  Node open(DataSource source, int shards) {
    Node node = new Node(builder(source).shards(shards));
    nodes.add(node);
    return node;
  }

  /** Opens and starts a node. */
  Node start() {
    return start(Formats.ofThisRelease());
  }

  // Releases

  JdbcTimerStoreBuilder builder(Formats formats) {
    JdbcTimerStoreBuilder builder = builder(pool).shards(4);
    builder.formats = formats;
    return builder;
  }

  Node open(Formats formats) {
    Node node = new Node(builder(formats));
    nodes.add(node);
    return node;
  }

  Node start(Formats formats) {
    Node node = open(formats);
    node.store.start(node);
    return node;
  }

  /** Begins a transaction of a user, independent of the default isolation. */
  Connection transaction() throws SQLException {
    Connection connection = database.connect();
    connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
    connection.setAutoCommit(false);
    return connection;
  }

  static TimerKey key(String id) {
    return new TimerKey("shop", id);
  }

  static Change.Schedule schedule(String id, long dueAt) {
    return schedule(id, dueAt, new byte[] {1}, false);
  }

  static Change.Schedule schedule(String id, long dueAt, byte[] payload, boolean evenFinished) {
    return new Change.Schedule(
        key(id),
        new TimerDefinition(
            "",
            "orders",
            false,
            payload,
            Map.of(),
            RetryPolicy.DEFAULT,
            MissedRuns.FIRE_ONCE,
            60_000),
        dueAt,
        false,
        Change.Condition.NONE,
        0,
        evenFinished,
        null,
        TimerRecord.NEVER,
        NOW);
  }

  static Change.Finish success(Change.Begin claim) {
    return new Change.Finish(
        claim.key(),
        claim.token(),
        claim.epoch(),
        Change.Finish.End.SUCCEEDED,
        TimerRecord.NEVER,
        null,
        NOW);
  }

  /** Makes the node leases of all nodes expire, by the clock of the database. */
  void expireLeases() throws SQLException {
    long millis = lease.toMillis() + 1_000;
    execute("UPDATE timewheel_node SET lease_until = lease_until - " + millis);
  }

  void execute(String sql) throws SQLException {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  long number(String sql) throws SQLException {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getLong(1);
    }
  }

  /** {@return the plan that a session of PostgreSQL keeps for a statement of a write batch} */
  String keptPlan(String sql) throws SQLException {
    String numbered = sql;
    int values = 0;
    while (numbered.contains("?")) {
      numbered = numbered.replaceFirst("\\?", "\\$" + ++values);
    }
    try (Connection connection = pool.getConnection()) {
      connection.setAutoCommit(false);
      PostgreSql.parts(Formats.ofThisRelease()).transactions().begin(connection);
      StringBuilder plan = new StringBuilder();
      try (Statement statement = connection.createStatement()) {
        statement.execute("PREPARE kept AS " + numbered);
        String nulls = String.join(", ", Collections.nCopies(values, "NULL"));
        try (ResultSet rows = statement.executeQuery("EXPLAIN EXECUTE kept (" + nulls + ")")) {
          while (rows.next()) {
            plan.append(rows.getString(1)).append('\n');
          }
        }
        statement.execute("DEALLOCATE kept");
      }
      connection.rollback();
      return plan.toString();
    }
  }

  @Override
  public void close() {
    nodes.forEach(node -> node.store.close());
    pool.close();
    if (prepared != null && !isClosed) {
      prepared.giveBack();
    }
    isClosed = true;
  }
}
