// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.jdbc.internal.maintenance.HistoryPurger;
import io.timewheel.durable.jdbc.internal.maintenance.Repair;
import io.timewheel.durable.jdbc.internal.maintenance.TimerExport;
import io.timewheel.durable.jdbc.internal.maintenance.TimerImport;
import io.timewheel.durable.jdbc.internal.mariadb.MariaDb;
import io.timewheel.durable.jdbc.internal.notifications.NotificationChannel;
import io.timewheel.durable.jdbc.internal.notifications.NotificationThread;
import io.timewheel.durable.jdbc.internal.ownership.ClusterPauses;
import io.timewheel.durable.jdbc.internal.ownership.DatabaseClock;
import io.timewheel.durable.jdbc.internal.ownership.LeaseThreads;
import io.timewheel.durable.jdbc.internal.ownership.NodeLease;
import io.timewheel.durable.jdbc.internal.ownership.Ownership;
import io.timewheel.durable.jdbc.internal.postgresql.PostgreSql;
import io.timewheel.durable.jdbc.internal.read.TimerReader;
import io.timewheel.durable.jdbc.internal.rows.NodeId;
import io.timewheel.durable.jdbc.internal.schema.Schema;
import io.timewheel.durable.jdbc.internal.server.NotificationTransport;
import io.timewheel.durable.jdbc.internal.server.ServerParts;
import io.timewheel.durable.jdbc.internal.sql.Log;
import io.timewheel.durable.jdbc.internal.sql.NodeClock;
import io.timewheel.durable.jdbc.internal.transaction.Counters;
import io.timewheel.durable.jdbc.internal.transaction.Transactions;
import io.timewheel.durable.jdbc.internal.write.BatchWriter;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.CopiedTimer;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.SharedLimit;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreListener;
import io.timewheel.durable.spi.StoreTraits;
import io.timewheel.durable.spi.TimerOrder;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.TimerSink;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.maintenance.IncompleteRepairException;
import io.timewheel.durable.spi.maintenance.StoreCopy;
import io.timewheel.durable.spi.maintenance.VerifyReport;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.DuePosition;
import io.timewheel.durable.spi.record.DueTimer;
import io.timewheel.durable.spi.record.HandlerNames;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerRecord;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Stores timers in a database that any number of nodes share. Each node opens a store and starts a
 * scheduler on it. The nodes divide the shards among themselves, and take over the shards of failed
 * nodes.
 *
 * <pre>{@code
 * DurableTimer scheduler = DurableTimer.builder(JdbcTimerStore.postgresql(dataSource))
 *     .handler("orders.cancel", firing -> …)
 *     .start();
 * }</pre>
 *
 * <p>The store takes connections from the user's pool: at most seven at a time, plus one for each
 * thread that reads or lists timers. The data source must lead to the primary server. The tables
 * are in its default schema, and are created if they are missing.
 */
public final class JdbcTimerStore implements TimerStore {
  private static final int MAX_BATCH = 1_000;

  private final ServerParts server;
  private final Counters counters;
  private final Transactions transactions;
  private final StoreTraits traits;
  private final DatabaseClock databaseClock;
  private final Ownership ownership;
  private final TimerReader reader;
  private final BatchWriter writer;
  private final HistoryPurger history;
  private final TimerImport imports;
  private final ClusterPauses clusterPauses;
  private final @Nullable NotificationChannel notifications;
  private final NodeClock clock;
  private final String node;
  private final boolean withThreads;
  private final Transactions.Pauses pauses;
  private final DataSource source;
  private @Nullable LeaseThreads threads;
  private @Nullable NotificationThread notificationThread;
  private boolean closed;

  JdbcTimerStore(JdbcTimerStoreBuilder builder) {
    server = builder.server();
    clock = builder.clock;
    node = builder.node;
    withThreads = builder.withThreads;
    pauses = builder.pauses;
    source = builder.source;
    counters = new Counters(clock::nanoTime);
    transactions = new Transactions(source, server, pauses, counters);
    int shards = new Schema(transactions, server, builder.shards).open();
    NodeLease.Settings settings = NodeLease.Settings.of(node, builder.lease);
    traits =
        new StoreTraits(
            shards,
            2,
            MAX_BATCH,
            Duration.ofSeconds(5),
            Duration.ofMillis(100),
            Duration.ofMillis(500),
            settings.lease());
    notifications = builder.notifications ? channel(server.notifications()) : null;
    history = new HistoryPurger(transactions, server);
    imports = new TimerImport(transactions, server, shards);
    databaseClock = new DatabaseClock(transactions, server.expressions(), clock);
    ownership =
        new Ownership(transactions, server, clock, databaseClock, settings, shards, counters);
    clusterPauses = new ClusterPauses(transactions, server, notifications);
    reader =
        new TimerReader(
            transactions,
            server.queries(),
            server.records(),
            counters,
            clock::nanoTime,
            () -> clock.millis() + databaseClock.offsetMillis(),
            shards);
    writer =
        new BatchWriter(
            transactions,
            server,
            counters,
            notifications,
            clock::nanoTime,
            shards,
            ownership::epoch);
  }

  private @Nullable NotificationChannel channel(@Nullable NotificationTransport transport) {
    return transport == null
        ? null
        : new NotificationChannel(
            transport, transactions.read(transport::channel), clock::nanoTime);
  }

  /**
   * Opens the store in a PostgreSQL database, version 14 or newer.
   *
   * @param source the source of connections
   * @return the store
   */
  public static JdbcTimerStore postgresql(DataSource source) {
    return postgresqlBuilder(source).open();
  }

  /**
   * Creates a builder for the store in a PostgreSQL database, version 14 or newer.
   *
   * @param source the source of connections
   * @return a builder with the default settings
   */
  public static JdbcTimerStoreBuilder postgresqlBuilder(DataSource source) {
    return new JdbcTimerStoreBuilder(PostgreSql::parts, requireNonNull(source, "source"));
  }

  /**
   * Opens the store in a MariaDB database, version 10.11 or newer.
   *
   * @param source the source of connections
   * @return the store
   */
  public static JdbcTimerStore mariadb(DataSource source) {
    return mariadbBuilder(source).open();
  }

  /**
   * Creates a builder for the store in a MariaDB database, version 10.11 or newer.
   *
   * @param source the source of connections
   * @return a builder with the default settings
   */
  public static JdbcTimerStoreBuilder mariadbBuilder(DataSource source) {
    return new JdbcTimerStoreBuilder(MariaDb::parts, requireNonNull(source, "source"));
  }

  /**
   * Reads the nodes that share the database, and the owners of the shards.
   *
   * @return the nodes and shards
   */
  public Membership membership() {
    return transactions.read(
        connection ->
            Membership.read(connection, server.expressions().nowMillis(), ownership.incarnation()));
  }

  /**
   * Returns the id of this node in a {@link Membership}. Before the node has started, the id is
   * only its name.
   *
   * @return the id
   */
  public String nodeId() {
    return NodeId.of(node, ownership.incarnation());
  }

  /**
   * Returns counters of this node's work and of its database calls. Does not access the database.
   *
   * @return the counters
   */
  public JdbcFigures figures() {
    return JdbcFigures.of(counters);
  }

  /**
   * Compares every timer with its shard, the ready index, the history and the counters, as of one
   * moment. Live nodes cause no false problems, because each transaction changes timers and indexes
   * together. Takes minutes on a large store; the database cannot remove dead rows meanwhile. Its
   * transaction lifts the time limits of the session, such as {@code statement_timeout}, {@code
   * transaction_timeout} and {@code max_statement_time}.
   *
   * @return the problems
   * @throws StoreException if the database fails
   */
  public VerifyReport verify() {
    return new Repair(transactions, server, traits.shards()).verify();
  }

  /**
   * Verifies, and fixes rows of the ready index, counters, shards, and keys that are also in the
   * history. Nodes may run meanwhile. The repair waits at most 5 s in total for rows that other
   * transactions hold, and then skips such rows. Call {@link #verify} afterwards to find the
   * remaining problems.
   *
   * @return the problems that were fixed
   * @throws IncompleteRepairException if another transaction holds rows, or if the database fails
   *     after a fix. It contains the problems that were fixed, and they stay fixed. Repair again
   * @throws StoreException if the database fails, or if another repair runs
   */
  public VerifyReport repair() {
    return new Repair(transactions, server, traits.shards()).repair();
  }

  /**
   * Copies all timers into another store, as of one moment, while nodes work. Pauses and the last
   * version are copied, too. Payloads of finished timers are not, since the database does not keep
   * them, and neither are stored answers of requests. On a large store it takes minutes, in which
   * the database cannot remove dead rows.
   *
   * @param target the other store
   * @param progress called with the number of timers that were read, after each batch
   * @return the number of timers that were written. A timer in the target is replaced only if it is
   *     older
   * @throws io.timewheel.durable.spi.maintenance.IncompleteExportException at the end, if some
   *     timers could not be read
   */
  public long copyTo(TimerStore target, LongConsumer progress) {
    return StoreCopy.copy(this, target, progress);
  }

  Ownership ownership() {
    return ownership;
  }

  /** Applies pauses of other nodes, for tests. In production, the lease threads apply them. */
  void applyPauses() {
    clusterPauses.apply();
  }

  Transactions transactions() {
    return transactions;
  }

  ServerParts server() {
    return server;
  }

  BatchWriter writer() {
    return writer;
  }

  NodeClock clock() {
    return clock;
  }

  @Override
  public StoreTraits traits() {
    return traits;
  }

  @Override
  public void start(StoreListener listener) {
    requireNonNull(listener, "listener");
    imports.checkFinished();
    clusterPauses.start(listener);
    ownership.start(listener);
    if (withThreads) {
      threads = new LeaseThreads(ownership, clusterPauses);
    }
    if (notifications != null) {
      Runnable onPause = threads == null ? clusterPauses::apply : threads::applyPauses;
      notificationThread =
          new NotificationThread(source, notifications, listener, onPause, clock, pauses, counters);
    }
  }

  @Override
  public boolean isLive() {
    return ownership.leaseLeftNanos() > 0;
  }

  @Override
  public long clockOffsetMillis() {
    return databaseClock.offsetMillis();
  }

  @Override
  public List<Outcome> commit(List<Change> changes) {
    return writer.commit(changes);
  }

  @Override
  public List<DueTimer> due(int shard, long until, @Nullable DuePosition after, int limit) {
    return reader.due(shard, until, after, limit);
  }

  @Override
  public List<DueTimer> sweep(Collection<Integer> shards, long until, int limit) {
    return reader.sweep(shards, until, limit);
  }

  @Override
  public List<DueTimer> releasable(
      int shard,
      HandlerNames handlers,
      Set<String> namespaces,
      @Nullable DueTimer after,
      int limit) {
    return reader.releasable(shard, handlers, namespaces, after, limit);
  }

  @Override
  public @Nullable TimerRecord get(TimerKey key) {
    return reader.get(key);
  }

  @Override
  public Map<TimerKey, TimerRecord> read(Collection<TimerKey> keys) {
    return reader.read(keys);
  }

  @Override
  public TimerPage page(TimerQuery query, @Nullable TimerKey after, int limit) {
    return reader.page(query, after, limit);
  }

  @Override
  public TimerPage sorted(
      TimerQuery query, TimerOrder order, @Nullable DuePosition after, int limit) {
    return reader.sorted(query, order, after, limit);
  }

  @Override
  public long acquire(
      String name, SharedLimit limit, String holder, long untilMillis, long nowMillis) {
    return writer.leases().acquire(name, limit, holder, untilMillis, nowMillis);
  }

  @Override
  public void release(String name, String holder) {
    writer.leases().release(name, holder);
  }

  @Override
  public long[] histogram(@Nullable String namespace, long[] bounds) {
    return reader.histogram(namespace, bounds);
  }

  @Override
  public Map<String, Map<TimerState, Long>> counts() {
    return reader.counts();
  }

  @Override
  public Map<TimerKey, Map<TimerState, Long>> queueCounts(@Nullable String namespace) {
    return reader.queueCounts(namespace);
  }

  @Override
  public Map<TimerKey, Long> readySince(Collection<TimerKey> queues) {
    return reader.readySince(queues);
  }

  @Override
  public List<TimerRecord> lease(
      List<LeaseRequest> requests, int limit, long nowMillis, Supplier<ClaimToken> tokens) {
    return writer.leases().lease(requests, limit, nowMillis, tokens);
  }

  @Override
  public List<String> readyHandlers(@Nullable String after, int limit) {
    return reader.readyHandlers(after, limit);
  }

  @Override
  public void pause(String scope) {
    clusterPauses.pause(scope);
  }

  @Override
  public void resume(String scope) {
    clusterPauses.resume(scope);
  }

  @Override
  public Set<String> paused() {
    return reader.paused();
  }

  @Override
  public int purge(long finishedBefore, long keep, int limit) {
    writer.compact(); // even after few batches
    return history.purge(finishedBefore, keep, limit);
  }

  @Override
  public int purgeAnswers(long answeredBefore, int limit) {
    return history.purgeAnswers(answeredBefore, limit);
  }

  @Override
  public void copyTo(TimerSink sink) {
    new TimerExport(transactions, server).copyTo(sink);
  }

  @Override
  public void beginImport(long lastVersion, Set<String> scopes) {
    imports.begin(lastVersion);
    Set<String> present = paused();
    scopes.stream().filter(scope -> !present.contains(scope)).forEach(this::pause);
  }

  @Override
  public void endImport() {
    imports.end();
  }

  /**
   * Returns whether an import has begun and not ended, so that timers are missing. Then {@link
   * #start} refuses the database, and {@link #verify} reports a problem. Import again.
   *
   * @return whether an import is unfinished
   */
  public boolean hasUnfinishedImport() {
    return imports.isUnfinished();
  }

  @Override
  public int importTimers(List<CopiedTimer> timers) {
    int written = imports.write(timers);
    writer.writtenElsewhere();
    return written;
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    if (notificationThread != null) {
      notificationThread.close();
    }
    if (threads != null) {
      threads.close();
    }
    try {
      ownership.leave();
    } catch (StoreException e) {
      Log.LOG.log(
          System.Logger.Level.WARNING,
          "the shards could not be released: others wait until the node lease expires",
          e);
    }
    transactions.close();
  }
}
