// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.read;

import io.timewheel.durable.jdbc.internal.server.Queries;
import io.timewheel.durable.jdbc.internal.server.Records;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.jdbc.internal.transaction.Counters;
import io.timewheel.durable.jdbc.internal.transaction.Transactions;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.TimerOrder;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.DuePosition;
import io.timewheel.durable.spi.record.DueTimer;
import io.timewheel.durable.spi.record.HandlerNames;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Reads timers, lists and counters by statements outside of transactions. Thread-safe. */
public final class TimerReader {
  private final Transactions transactions;
  private final Queries queries;
  private final Records records;
  private final Counters counters;
  private final LongSupplier databaseMillis;
  private final int shards;
  private final DueBounds bounds;

  /**
   * Creates the reader of a store.
   *
   * @param databaseMillis the estimated time of the database, in milliseconds
   */
  public TimerReader(
      Transactions transactions,
      Queries queries,
      Records records,
      Counters counters,
      LongSupplier nanoTime,
      LongSupplier databaseMillis,
      int shards) {
    this.transactions = transactions;
    this.queries = queries;
    this.records = records;
    this.counters = counters;
    this.databaseMillis = databaseMillis;
    this.shards = shards;
    bounds = new DueBounds(nanoTime);
  }

  /** Implements {@link TimerStore#due}. */
  public List<DueTimer> due(int shard, long until, @Nullable DuePosition after, int limit) {
    long from = after == null ? bounds.from(shard) : after.fireAt();
    long now = databaseMillis.getAsLong();
    Counters.Sweeps sweeps = from == Long.MIN_VALUE ? counters.fullSweeps : counters.sweeps;
    List<DueTimer> due =
        transactions.read(
            connection ->
                sweeps.read(() -> queries.due(connection, shard, from, until, after, limit)));
    if (from == Long.MIN_VALUE && after == null) {
      bounds.scanned(shard, Math.min(now, until), due);
    }
    return due;
  }

  /** Implements {@link TimerStore#sweep}. */
  public List<DueTimer> sweep(Collection<Integer> some, long until, int limit) {
    Map<Integer, Long> from = bounds.sweepFrom(some);
    List<DueTimer> found = new ArrayList<>();
    for (int shard : some) {
      if (!from.containsKey(shard)) {
        found.addAll(due(shard, until, null, limit));
      }
    }
    if (!from.isEmpty()) {
      long now = databaseMillis.getAsLong();
      List<DueTimer> due =
          transactions.read(
              connection ->
                  counters.sweeps.read(() -> queries.sweep(connection, from, until, limit)));
      bounds.swept(from, Math.min(now, until), due, timer -> Shards.of(timer.key(), shards));
      found.addAll(due);
    }
    return found;
  }

  /** Implements {@link TimerStore#releasable}. */
  public List<DueTimer> releasable(
      int shard,
      HandlerNames handlers,
      Set<String> namespaces,
      @Nullable DueTimer after,
      int limit) {
    return transactions.read(
        connection ->
            Releasables.read(connection, queries, shard, handlers, namespaces, after, limit));
  }

  /** Implements {@link TimerStore#get}. */
  @Nullable
  public TimerRecord get(TimerKey key) {
    return transactions
        .read(connection -> Optional.ofNullable(queries.get(connection, key)))
        .orElse(null);
  }

  /**
   * Implements {@link TimerStore#read}. Executes one statement, and another one for keys without an
   * unfinished timer.
   */
  public Map<TimerKey, TimerRecord> read(Collection<TimerKey> keys) {
    List<TimerKey> sorted = keys.stream().sorted().toList();
    return transactions.read(
        connection -> {
          try (Statements to = new Statements(connection)) {
            Map<TimerKey, TimerRecord> found =
                new HashMap<>(records.read(to, sorted, Records.Lock.NONE).get());
            List<TimerKey> others = sorted.stream().filter(key -> !found.containsKey(key)).toList();
            if (!others.isEmpty()) { // read last, to find timers that finish meanwhile
              records
                  .finished(to, others)
                  .get()
                  .forEach((key, finished) -> found.put(key, finished.record()));
            }
            return found;
          }
        });
  }

  /** Implements {@link TimerStore#page}. */
  public TimerPage page(TimerQuery query, @Nullable TimerKey after, int limit) {
    DuePosition position = after == null ? null : new DuePosition(0, after);
    return sorted(query, TimerOrder.ID, position, limit);
  }

  /** Implements {@link TimerStore#sorted}. */
  public TimerPage sorted(
      TimerQuery query, TimerOrder order, @Nullable DuePosition after, int limit) {
    return transactions.read(connection -> queries.page(connection, query, order, after, limit));
  }

  /** Implements {@link TimerStore#histogram}. */
  public long[] histogram(@Nullable String namespace, long[] bounds) {
    return transactions.read(
        connection -> queries.histogram(connection, shards, namespace, bounds));
  }

  /** Implements {@link TimerStore#counts}. */
  public Map<String, Map<TimerState, Long>> counts() {
    return transactions.read(connection -> queries.counts(connection).namespaces());
  }

  /** Implements {@link TimerStore#queueCounts}. */
  public Map<TimerKey, Map<TimerState, Long>> queueCounts(@Nullable String namespace) {
    return transactions.read(connection -> queries.queueCounts(connection, namespace));
  }

  /** Implements {@link TimerStore#readySince}. */
  public Map<TimerKey, Long> readySince(Collection<TimerKey> queues) {
    return transactions.read(connection -> queries.readySince(connection, queues));
  }

  /** Implements {@link TimerStore#readyHandlers}. */
  public List<String> readyHandlers(@Nullable String after, int limit) {
    return transactions.read(
        connection -> queries.readyHandlers(connection, after == null ? "" : after, limit));
  }

  /** Implements {@link TimerStore#paused}. */
  public Set<String> paused() {
    return transactions.read(queries::paused);
  }
}
