// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.handler;

import io.timewheel.durable.jdbc.internal.server.CommitProof;
import io.timewheel.durable.jdbc.internal.server.ServerParts;
import io.timewheel.durable.jdbc.internal.server.UserTransactions;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.jdbc.internal.transaction.Transactions;
import io.timewheel.durable.jdbc.internal.write.BatchWriter;
import io.timewheel.durable.jdbc.internal.write.WriteBatch;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Calls handlers in transactions that record their success.
 *
 * <pre>
 *   1 BEGIN; set an idle timeout; the transaction has an identity from now on
 *   2 call the handler
 *   3 set the lock timeout to 500 ms and the idle timeout to 2 s; run the write batch
 *     of the completions, which writes the timers and compares the epochs: the fence
 *   4 COMMIT
 * </pre>
 *
 * <p>Before step 3, the transaction holds nothing that the rest of the engine waits for. While the
 * handler runs, a cancel returns RUNNING, and another node can take over the shard. If any step
 * before 4 fails, the server rolls back, because no COMMIT was sent. If the answer to step 4 is
 * lost, its outcome is looked up. If it stays unknown, the engine counts the attempt as failed. The
 * record of that failure waits for the timer's lock, and so for the end of the transaction. It is
 * refused if the transaction was committed after all.
 */
public final class HandlerTransactions {
  /**
   * The idle timeout of the transaction while the handler runs: the duration of a node lease. A
   * node that stalls for longer has lost its shards, and the next attempt must not wait for the
   * rows that it has locked.
   */
  private static final long IDLE_MILLIS = TimeUnit.SECONDS.toMillis(10);

  private final Transactions transactions;
  private final BatchWriter writer;
  private final CommitProof commits;
  private final UserTransactions statements;
  private final AttemptHandler handler;

  public HandlerTransactions(
      Transactions transactions, BatchWriter writer, ServerParts server, AttemptHandler handler) {
    this.transactions = transactions;
    this.writer = writer;
    commits = server.commits();
    this.handler = handler;
    statements = server.userTransactions();
  }

  /** Carries the exception of a handler. */
  private static final class HandlerFailure extends RuntimeException {
    private static final long serialVersionUID = 1;

    HandlerFailure(Exception cause) {
      super(null, cause, false, false);
    }
  }

  /** Thrown if a completion was not recorded, so that the handler's effects are rolled back. */
  static final class NotTaken extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final transient List<Outcome> outcomes;

    NotTaken(List<Outcome> outcomes) {
      super(null, null, false, false);
      this.outcomes = outcomes;
    }

    List<Outcome> outcomes() {
      return outcomes;
    }
  }

  /**
   * Handles attempts in one transaction.
   *
   * @return their outcomes; if one of them is not APPLIED, nothing was committed
   * @throws Exception if nothing was committed; after a {@link StoreException} of the kind UNKNOWN,
   *     the transaction may have been committed
   */
  List<Outcome> handle(List<HandlerAttempt> attempts) throws Exception {
    try {
      return transactions.writeOnce(new OwnTransaction(attempts));
    } catch (NotTaken e) {
      return e.outcomes;
    } catch (HandlerFailure e) {
      throw (Exception) e.getCause();
    }
  }

  private final class OwnTransaction implements Transactions.Work<List<Outcome>> {
    private final List<HandlerAttempt> attempts;
    private @Nullable String transactionId;

    OwnTransaction(List<HandlerAttempt> attempts) {
      this.attempts = attempts;
    }

    @Override
    public List<Outcome> run(Connection connection) throws SQLException {
      String begun = begin(connection, true);
      try {
        call(connection, attempts);
      } catch (Exception e) {
        throw new HandlerFailure(e);
      }
      Recorded recorded = finish(connection, begun, true, attempts);
      transactionId = recorded.transactionId();
      return recorded.outcomes();
    }

    @Override
    public @Nullable String transactionId(Connection connection, CommitProof same) {
      return transactionId;
    }
  }

  // The steps. UserTransactionHandler uses those between BEGIN and COMMIT

  /** Begins the transaction; {@code own} as for {@link UserTransactions#beginHandler}. */
  String begin(Connection connection, boolean own) throws SQLException {
    return statements.beginHandler(connection, IDLE_MILLIS, own);
  }

  void call(Connection connection, List<HandlerAttempt> attempts) throws Exception {
    HandlerConnection lent = new HandlerConnection(connection);
    try {
      handler.handle(attempts, lent.connection());
    } finally {
      lent.end();
    }
  }

  /**
   * The recorded completions.
   *
   * @param outcomes the outcomes, all APPLIED
   * @param transactionId identifies the transaction if the answer to COMMIT is lost
   */
  record Recorded(List<Outcome> outcomes, @Nullable String transactionId) {}

  /**
   * Records the completions.
   *
   * @throws NotTaken if one of them is not recorded
   */
  Recorded finish(Connection connection, String begun, boolean own, List<HandlerAttempt> attempts)
      throws SQLException {
    if (connection.getAutoCommit()) {
      throw ended();
    }
    try (Statements to = new Statements(connection)) {
      Statements.Answer<Boolean> isSame = statements.endHandler(to, begun, own);
      List<Change> ends = attempts.stream().<Change>map(HandlerAttempt::finish).toList();
      WriteBatch batch = writer.batch(ends);
      List<Outcome> outcomes;
      try {
        outcomes = batch.finishIn(to);
      } catch (Transactions.Again e) { // refused by the fence; with one firing, its shard is lost
        Outcome stale = new Outcome(Outcome.Answer.STALE_OWNER, 0, null);
        throw new NotTaken(attempts.stream().map(attempt -> stale).toList());
      }
      if (!isSame.get()) {
        throw ended();
      }
      if (outcomes.stream().anyMatch(outcome -> outcome.answer() != Outcome.Answer.APPLIED)) {
        throw new NotTaken(outcomes);
      }
      return new Recorded(outcomes, batch.transactionId(connection, commits));
    }
  }

  private static IllegalStateException ended() {
    return new IllegalStateException(
        "the handler has ended the transaction that it was given: its effects may happen again");
  }
}
