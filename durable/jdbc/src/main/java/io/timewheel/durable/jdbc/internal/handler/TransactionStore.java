// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.handler;

import io.timewheel.durable.jdbc.internal.server.ServerErrors;
import io.timewheel.durable.jdbc.internal.server.ServerParts;
import io.timewheel.durable.jdbc.internal.server.UserTransactions;
import io.timewheel.durable.jdbc.internal.write.BatchWriter;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.ClaimToken;
import io.timewheel.durable.spi.DuePosition;
import io.timewheel.durable.spi.DueTimer;
import io.timewheel.durable.spi.HandlerNames;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.SharedLimit;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreListener;
import io.timewheel.durable.spi.StoreTraits;
import io.timewheel.durable.spi.TimerOrder;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.TimerRecord;
import io.timewheel.durable.spi.TimerStore;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Represents the store in one transaction of the user. Only applies changes; neither commits nor
 * rolls back. Keeps its failures for the caller, because the engine in between wraps them in other
 * exceptions. Not thread-safe, like its connection.
 */
public final class TransactionStore implements TimerStore {
  private final TimerStore store;
  private final BatchWriter writer;
  private final StoreTables tables;
  private final ServerErrors errors;
  private final Connection connection;
  private final UserTransactions statements;
  private @Nullable RuntimeException failure;

  /** True if the current call has changed anything. */
  private boolean marked;

  public TransactionStore(
      TimerStore store,
      BatchWriter writer,
      ServerParts server,
      StoreTables tables,
      Connection connection) {
    this.store = store;
    this.writer = writer;
    errors = server.errors();
    this.tables = tables;
    this.connection = connection;
    statements = server.userTransactions();
  }

  /** Returns and clears the failure of the last operation; null if it succeeded. */
  @Nullable
  public RuntimeException takeFailure() {
    RuntimeException last = failure;
    failure = null;
    return last;
  }

  /** Begins a call of the user. */
  public void beginCall() {
    failure = null;
    marked = false;
  }

  /**
   * Requires one commit at a time, in the order of the keys, and all or none of a call's changes.
   */
  @Override
  public StoreTraits traits() {
    StoreTraits traits = store.traits();
    return new StoreTraits(
        traits.shards(),
        1,
        traits.maxBatch(),
        traits.window(),
        traits.claimAhead(),
        traits.sweep(),
        traits.lease());
  }

  @Override
  public long clockOffsetMillis() {
    return store.clockOffsetMillis();
  }

  @Override
  public List<Outcome> commit(List<Change> changes) {
    RuntimeException why = failure;
    if (why == null) {
      try {
        return write(changes);
      } catch (SQLException e) {
        why =
            new StoreException(
                errors.kind(e),
                "the database: "
                    + e.getMessage()
                    + " ("
                    + e.getSQLState()
                    + "); the transaction can only be rolled back",
                e);
      } catch (RuntimeException e) {
        why = e;
      }
      failure = why;
    }
    // After this kind, an engine does not repeat the operation.
    throw new StoreException(StoreException.Kind.REJECTED, String.valueOf(why.getMessage()), why);
  }

  private List<Outcome> write(List<Change> changes) throws SQLException {
    try {
      UserTransactions.Visit visit = tables.enter(connection);
      if (!marked) {
        statements.mark(connection);
        marked = true;
      }
      List<Outcome> outcomes = writer.unheardBatch(changes).runIn(connection, visit.firstVersion());
      statements.leave(connection, visit);
      return outcomes;
    } catch (SQLException | RuntimeException e) {
      if (marked) {
        statements.undo(connection, e);
      }
      throw e;
    }
  }

  // Unsupported in a transaction of the user

  private static UnsupportedOperationException unsupported() {
    return new UnsupportedOperationException("not in a transaction of the user");
  }

  @Override
  public void start(StoreListener listener) {
    throw unsupported();
  }

  @Override
  public List<DueTimer> due(int shard, long until, @Nullable DuePosition after, int limit) {
    throw unsupported();
  }

  @Override
  public List<DueTimer> releasable(
      int shard,
      HandlerNames handlers,
      Set<String> namespaces,
      @Nullable DueTimer after,
      int limit) {
    throw unsupported();
  }

  @Override
  public @Nullable TimerRecord get(TimerKey key) {
    throw unsupported();
  }

  @Override
  public TimerPage page(TimerQuery query, @Nullable TimerKey after, int limit) {
    throw unsupported();
  }

  @Override
  public TimerPage sorted(
      TimerQuery query, TimerOrder order, @Nullable DuePosition after, int limit) {
    throw unsupported();
  }

  @Override
  public long acquire(
      String name, SharedLimit limit, String holder, long untilMillis, long nowMillis) {
    throw unsupported();
  }

  @Override
  public void release(String name, String holder) {
    throw unsupported();
  }

  @Override
  public long[] histogram(@Nullable String namespace, long[] bounds) {
    throw unsupported();
  }

  @Override
  public Map<String, Map<TimerState, Long>> counts() {
    throw unsupported();
  }

  @Override
  public Map<TimerKey, Map<TimerState, Long>> queueCounts(@Nullable String namespace) {
    throw unsupported();
  }

  @Override
  public Map<TimerKey, Long> readySince(Collection<TimerKey> queues) {
    throw unsupported();
  }

  @Override
  public List<TimerRecord> lease(
      List<LeaseRequest> requests, int limit, long nowMillis, Supplier<ClaimToken> tokens) {
    throw unsupported();
  }

  @Override
  public int pause(String scope) {
    throw unsupported();
  }

  @Override
  public void resume(String scope) {
    throw unsupported();
  }

  @Override
  public Set<String> paused() {
    throw unsupported();
  }

  @Override
  public int purgeAnswers(long answeredBefore, int limit) {
    throw unsupported();
  }

  @Override
  public int purge(long finishedBefore, long keep, int limit) {
    throw unsupported();
  }

  @Override
  public void close() {}
}
