// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.ownership;

import io.timewheel.durable.jdbc.internal.rows.Formats;
import io.timewheel.durable.jdbc.internal.rows.HandlerLines;
import io.timewheel.durable.jdbc.internal.server.CommitProof;
import io.timewheel.durable.jdbc.internal.server.Expressions;
import io.timewheel.durable.jdbc.internal.server.ServerErrors;
import io.timewheel.durable.jdbc.internal.server.ServerParts;
import io.timewheel.durable.jdbc.internal.server.TransactionSql;
import io.timewheel.durable.jdbc.internal.sql.Log;
import io.timewheel.durable.jdbc.internal.sql.NodeClock;
import io.timewheel.durable.jdbc.internal.transaction.Counters;
import io.timewheel.durable.jdbc.internal.transaction.Transactions;
import io.timewheel.durable.spi.HandlerNames;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreListener;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Manages the shards of this node. A node has a node lease, which it renews. A shard has an owner,
 * and an {@link Epoch} that only increases. The database decides about ownership by its clock. The
 * node keeps a copy of its lease, which ends before the lease in the database expires.
 *
 * <h2>Why no two nodes fire the same shard</h2>
 *
 * <pre>
 *   the owner                                   the next owner
 *   1 notes its clocks
 *   2 renews: lease_until = now + lease         3 locks the owner's row: no renewal passes it
 *   4 fires until its clocks are a lease        4 reads lease_until &lt; now
 *     less a margin ahead of step 1             5 sets epoch + 1
 * </pre>
 *
 * The lease in step 2 does not begin before the time noted in step 1. So the owner stops before its
 * lease expires, unless its clocks stop. Even then, the database refuses its commits, because they
 * compare the epoch.
 *
 * <p>The steps are called by {@link LeaseThreads}, or by a test.
 */
public final class Ownership {
  private static final int MAX_QUESTIONS = 10;
  private static final long QUICK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final Transactions transactions;
  private final Formats formats;
  private final ServerErrors errors;
  private final TransactionSql sql;
  private final Expressions expressions;
  private final CommitProof commits;
  private final OwnershipRows rows;
  private final NodeClock clock;
  private final Settings settings;
  private final int shards;
  private final Counters counters;

  /**
   * The epochs of the shards that this node owns. Changed under the monitor, together with the call
   * of the engine.
   */
  private final Map<Integer, Long> owned = new ConcurrentHashMap<>();

  private final Map<Integer, Release> releases = new ConcurrentHashMap<>();
  private volatile @Nullable StoreListener listener;
  private volatile @Nullable Lease lease;
  private volatile @Nullable DatabaseTime databaseTime;

  /** The handlers of live nodes that the engine was last notified of. */
  private volatile @Nullable HandlerNames known;

  private volatile Runnable onRelease = () -> {};

  /** The settings of node leases. */
  public record Settings(
      String name, Duration lease, Duration renewal, Duration margin, Duration drain) {
    public static Settings of(String name, Duration lease) {
      return new Settings(
          name, lease, Duration.ofSeconds(3), Duration.ofSeconds(1), Duration.ofSeconds(10));
    }
  }

  /**
   * A node lease.
   *
   * @param nonce a random number of this lease, which differs between servers
   * @param server the server that granted it
   * @param sentNanos the monotonic time before the request, in nanoseconds
   * @param sentMillis the wall-clock time before the request, in milliseconds
   */
  private record Lease(long node, long nonce, String server, long sentNanos, long sentMillis) {}

  /** A shard that is given away as soon as none of its attempts runs. */
  private record Release(CompletableFuture<Void> drained, long beganNanos) {}

  public Ownership(
      Transactions transactions,
      ServerParts server,
      NodeClock clock,
      Settings settings,
      int shards,
      Counters counters) {
    this.transactions = transactions;
    formats = server.formats();
    errors = server.errors();
    sql = server.transactions();
    expressions = server.expressions();
    commits = server.commits();
    rows = new OwnershipRows(server);
    this.clock = clock;
    this.settings = settings;
    this.shards = shards;
    this.counters = counters;
  }

  /** Sets the task that runs when a drained shard can be given away. */
  void onRelease(Runnable work) {
    onRelease = work;
  }

  /** Returns the epoch under which this node owns a shard; null if it does not own it. */
  @Nullable
  public Long epoch(int shard) {
    return owned.get(shard);
  }

  public Set<Integer> owned() {
    return Set.copyOf(owned.keySet());
  }

  /** Returns the number under which this node has its node lease; 0 if it has none. */
  public long incarnation() {
    Lease last = lease;
    return last == null ? 0 : last.node();
  }

  public long clockOffsetMillis() {
    DatabaseTime last = databaseTime;
    return last == null ? 0 : last.millisAt(clock.nanoTime()) - clock.millis();
  }

  public void start(StoreListener engine) {
    listener = engine;
    join();
    balance();
  }

  // The node lease

  /**
   * Reads the time of the database, and repeats this a few times until the answer is quick enough
   * to be accurate.
   */
  public void askTime() {
    for (int i = 0; i < MAX_QUESTIONS; i++) {
      DatabaseTime now =
          transactions.read(
              connection -> {
                try (PreparedStatement statement =
                    connection.prepareStatement("SELECT " + expressions.nowMillis())) {
                  long askedNanos = clock.nanoTime();
                  try (ResultSet time = statement.executeQuery()) {
                    time.next();
                    return DatabaseTime.of(time.getLong(1), askedNanos, clock.nanoTime());
                  }
                }
              });
      keep(now);
      if (now.errorNanos() <= QUICK_NANOS) {
        return;
      }
    }
  }

  private void keep(DatabaseTime now) {
    DatabaseTime last = databaseTime;
    databaseTime = last == null ? now : last.orBetter(now);
  }

  private void join() {
    StoreListener engine = listener;
    if (engine == null) { // this node has left
      return;
    }
    long sentNanos = clock.nanoTime();
    long sentMillis = clock.millis();
    long nonce = Epoch.nonce();
    lease =
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
                statement.setLong(7, clockOffsetMillis());
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
    keep(DatabaseTime.of(leaseUntil - settings.lease().toMillis(), askedNanos, answeredNanos));
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

  /**
   * Renews the node lease. A node whose lease has expired joins again under a new number. A node
   * that is connected to another server does the same.
   */
  public void renew() {
    Lease last = lease;
    if (last == null) {
      return;
    }
    long sentNanos = clock.nanoTime();
    long sentMillis = clock.millis();
    Lease renewed =
        transactions
            .write(connection -> renewed(connection, last, sentNanos, sentMillis))
            .orElse(null);
    if (renewed != null) {
      lease = renewed;
      return;
    }
    if (!owned.isEmpty()) { // otherwise it was logged when the node stopped
      Log.LOG.log(
          System.Logger.Level.WARNING,
          "the lease of node {0} has expired, or the database has failed over: its shards are lost,"
              + " and it joins again under a new number",
          last.node());
    }
    loseAll();
    join();
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
      statement.setLong(2, clockOffsetMillis());
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
  public long leaseLeftNanos() {
    Lease last = lease;
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
    Lease last = lease;
    return last != null && clock.nanoTime() - last.sentNanos() >= settings.renewal().toNanos();
  }

  /** Stops firing if the node lease may be about to expire. */
  public void watch() {
    if (!owned.isEmpty() && leaseLeftNanos() <= 0) {
      Log.LOG.log(
          System.Logger.Level.WARNING,
          "the node lease could not be renewed in time: this node fires no timers until it is");
      loseAll();
    }
  }

  private synchronized void loseAll() {
    if (!owned.isEmpty()) { // otherwise it was counted when the node stopped
      counters.leasesLost.increment();
    }
    List.copyOf(owned.keySet()).forEach(this::lose);
  }

  private synchronized void lose(int shard) {
    StoreListener engine = listener;
    releases.remove(shard);
    if (owned.remove(shard) != null && engine != null) {
      engine.lost(shard);
    }
  }

  private synchronized void acquire(int shard, long epoch) {
    StoreListener engine = listener;
    if (engine != null && leaseLeftNanos() > 0) {
      owned.put(shard, epoch);
      engine.acquired(shard, epoch);
    }
  }

  // Shards

  /** Takes free shards up to this node's fair share, and begins to give away those beyond it. */
  public void balance() {
    Lease mine = lease;
    if (mine == null) {
      return;
    }
    StoreListener engine = listener;
    if (engine == null) {
      return;
    }
    OwnershipRows.Look look = transactions.read(rows::look);
    learn(engine, look.handlers());
    if (!engine.ownsShards()) {
      return;
    }
    int nodes = Math.max(1, look.nodes());
    int share = (shards + nodes - 1) / nodes;
    List<OwnershipRows.Shard> free = new ArrayList<>();
    for (OwnershipRows.Shard row : look.shards()) {
      boolean isMine = row.owner() != null && row.owner() == mine.node();
      Long epoch = owned.get(row.shard());
      if (epoch != null && (!isMine || epoch != row.epoch())) {
        lose(row.shard());
      }
      if (isMine ? !owned.containsKey(row.shard()) : !row.alive()) {
        free.add(row);
      }
    }
    give();
    int kept = owned.size() - releases.size();
    for (int shard : new TreeSet<>(owned.keySet())) {
      if (kept > share && !releases.containsKey(shard)) {
        release(shard);
        kept--;
      }
    }
    int start = free.isEmpty() ? 0 : Math.floorMod(mine.node() * 31, free.size());
    for (int i = 0; i < free.size() && owned.size() - releases.size() < share; i++) {
      if (wantsRenewal()) {
        renew(); // the renewal must not wait for the other shards
      }
      Lease still = lease;
      if (still == null || still.node() != mine.node()) {
        return;
      }
      if (!take(mine, free.get((start + i) % free.size()))) {
        return;
      }
    }
  }

  /** Notifies the engine if the handlers of live nodes have changed. */
  private void learn(StoreListener engine, HandlerNames handlers) {
    if (!handlers.equals(known)) {
      known = handlers;
      engine.known(handlers);
    }
  }

  /**
   * Takes a shard if it is free.
   *
   * @return whether the next shard should be tried
   */
  private boolean take(Lease mine, OwnershipRows.Shard row) {
    long node = mine.node();
    try {
      long epoch =
          transactions.writeOnce(
              connection -> rows.take(connection, node, mine.nonce(), mine.server(), row));
      if (epoch != OwnershipRows.NOT_TAKEN) {
        boolean isFree = row.owner() == null || row.owner() == node;
        (isFree ? counters.shardsReceived : counters.shardsTakenOver).increment();
        acquire(row.shard(), epoch);
      }
      return true;
    } catch (StoreException e) {
      Log.LOG.log(
          System.Logger.Level.WARNING,
          "shard {0} of {1} cannot be taken over yet: {2}",
          row.shard(),
          row.owner() == null ? "nobody" : "node " + row.owner(),
          e.getMessage());
      // Any other failure may mean that the database is unavailable.
      return e.getCause() instanceof SQLException cause && errors.isHeldUp(cause);
    }
  }

  // Giving away

  private void release(int shard) {
    StoreListener engine = listener;
    if (engine == null) {
      return;
    }
    CompletableFuture<Void> drained = engine.releasing(shard).toCompletableFuture();
    releases.put(shard, new Release(drained, clock.nanoTime()));
    var unused = drained.whenComplete((nothing, failure) -> onRelease.run());
  }

  /** Gives away shards that are drained, or whose drain timeout has passed. */
  public void give() {
    Lease mine = lease;
    Set<Integer> drained = new HashSet<>();
    releases.forEach(
        (shard, release) -> {
          if (release.drained().isDone()
              || clock.nanoTime() - release.beganNanos() >= settings.drain().toNanos()) {
            drained.add(shard);
          }
        });
    for (int shard : drained) {
      Long epoch = owned.get(shard);
      if (epoch != null
          && mine != null
          && transactions.write(connection -> rows.give(connection, mine.node(), shard, epoch))) {
        counters.shardsGiven.increment();
      }
      lose(shard);
    }
  }

  /** Leaves the cluster. All its shards become free at once. */
  public void leave() {
    Lease last = lease;
    lease = null;
    listener = null;
    owned.clear();
    releases.clear();
    if (last != null) {
      boolean unused = transactions.write(connection -> leave(connection, last));
    }
  }

  private boolean leave(Connection connection, Lease last) throws SQLException {
    sql.begin(connection);
    OwnershipRows.Row row = rows.lock(connection, last.node());
    if (row != null && row.nonce() == last.nonce()) {
      rows.delete(connection, last.node());
    }
    return true;
  }
}
