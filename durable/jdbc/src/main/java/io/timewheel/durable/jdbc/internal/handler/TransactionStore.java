// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.handler;

import io.timewheel.durable.jdbc.internal.server.ServerErrors;
import io.timewheel.durable.jdbc.internal.server.ServerParts;
import io.timewheel.durable.jdbc.internal.server.UserTransactions;
import io.timewheel.durable.jdbc.internal.write.BatchWriter;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreTraits;
import io.timewheel.durable.spi.TimerStore;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Represents the store in one transaction of the user. Only applies changes and refuses all other
 * operations; neither commits nor rolls back. Keeps its failures for the caller, because the engine
 * in between wraps them in other exceptions. Not thread-safe, like its connection.
 */
public final class TransactionStore extends ForwardingTimerStore {
  /** Refuses all operations. */
  private static final TimerStore UNSUPPORTED =
      (TimerStore)
          Proxy.newProxyInstance(
              TransactionStore.class.getClassLoader(),
              new Class<?>[] {TimerStore.class},
              (self, method, arguments) -> {
                throw new UnsupportedOperationException("not in a transaction of the user");
              });

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
    super(UNSUPPORTED);
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

  @Override
  public void close() {}
}
