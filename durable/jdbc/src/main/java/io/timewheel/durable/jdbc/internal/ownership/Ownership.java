// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.ownership;

import io.timewheel.durable.jdbc.internal.ownership.NodeLease.Lease;
import io.timewheel.durable.jdbc.internal.server.ServerErrors;
import io.timewheel.durable.jdbc.internal.server.ServerParts;
import io.timewheel.durable.jdbc.internal.sql.Log;
import io.timewheel.durable.jdbc.internal.sql.NodeClock;
import io.timewheel.durable.jdbc.internal.transaction.Counters;
import io.timewheel.durable.jdbc.internal.transaction.Transactions;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreListener;
import io.timewheel.durable.spi.record.HandlerNames;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
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
  private final Transactions transactions;
  private final ServerErrors errors;
  private final OwnershipRows rows;
  private final NodeLease lease;
  private final NodeClock clock;
  private final NodeLease.Settings settings;
  private final int shards;
  private final Counters counters;

  /**
   * The epochs of the shards that this node owns. Changed under the monitor, together with the call
   * of the engine.
   */
  private final Map<Integer, Long> owned = new ConcurrentHashMap<>();

  private final Map<Integer, Release> releases = new ConcurrentHashMap<>();
  private volatile @Nullable StoreListener listener;

  /** The handlers of live nodes that the engine was last notified of. */
  private volatile @Nullable HandlerNames known;

  private volatile Runnable onRelease = () -> {};

  /** A shard that is given away as soon as none of its attempts runs. */
  private record Release(CompletableFuture<Void> drained, long beganNanos) {}

  public Ownership(
      Transactions transactions,
      ServerParts server,
      NodeClock clock,
      DatabaseClock time,
      NodeLease.Settings settings,
      int shards,
      Counters counters) {
    this.transactions = transactions;
    errors = server.errors();
    rows = new OwnershipRows(server);
    lease = new NodeLease(transactions, server, rows, clock, time, settings);
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
    Lease last = lease.current();
    return last == null ? 0 : last.node();
  }

  public void start(StoreListener engine) {
    listener = engine;
    lease.join(engine);
    balance();
  }

  // The node lease

  /**
   * Renews the node lease. A node whose lease has expired joins again under a new number. A node
   * that is connected to another server does the same.
   */
  public void renew() {
    Lease last = lease.current();
    if (last == null || lease.renew(last)) {
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
    StoreListener engine = listener;
    if (engine != null) { // otherwise this node has left
      lease.join(engine);
    }
  }

  /** Returns the guaranteed remaining time of the node lease, less the margin, in nanoseconds. */
  public long leaseLeftNanos() {
    return lease.leftNanos();
  }

  /** Returns whether the node lease must be renewed now. */
  boolean wantsRenewal() {
    return lease.wantsRenewal();
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
    Lease mine = lease.current();
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
      if (lease.wantsRenewal()) {
        renew(); // the renewal must not wait for the other shards
      }
      Lease still = lease.current();
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
    Lease mine = lease.current();
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
    listener = null;
    owned.clear();
    releases.clear();
    lease.leave();
  }
}
