// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.handler;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.jdbc.internal.sql.Log;
import io.timewheel.durable.jdbc.internal.transaction.Transactions;
import io.timewheel.durable.spi.FinishingAttempt;
import io.timewheel.durable.spi.FinishingHandler;
import io.timewheel.durable.spi.record.Outcome;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Calls a handler in transactions that a {@link HandlerRunner} begins and ends.
 *
 * <p>The effects and the record are in one transaction before the runner commits it. So both are
 * committed or neither is, and only the outcome can be unknown. It is looked up whenever the runner
 * fails after the record was written. The cause may be a lost answer to COMMIT, but also a listener
 * that the framework called after the commit.
 */
public final class UserTransactionHandler implements FinishingHandler {
  private final Transactions transactions;
  private final StoreTables tables;
  private final HandlerTransactions steps;
  private final HandlerRunner runner;

  public UserTransactionHandler(
      Transactions transactions,
      StoreTables tables,
      HandlerTransactions steps,
      HandlerRunner runner) {
    this.transactions = transactions;
    this.tables = tables;
    this.steps = steps;
    this.runner = runner;
  }

  /** Throws if the runner's transactions cannot be used for timers of the store. */
  public void check() {
    try {
      runner.run(
          new HandlerRunner.Work() {
            @Override
            public void handle(Connection connection) throws SQLException {
              begin(connection);
            }

            @Override
            public void finish() {}
          });
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException("runner: " + e.getMessage(), e);
    }
  }

  private String begin(Connection connection) throws SQLException {
    String begun = steps.begin(connection, false);
    // Check each transaction: if it leads to other tables, the timer is not found, and the attempt
    // counts as stale.
    tables.check(connection);
    return begun;
  }

  @Override
  public void handle(List<? extends FinishingAttempt> attempts) {
    for (FinishingAttempt attempt : attempts) {
      try {
        attempt.recorded(handle(attempt));
      } catch (Exception e) {
        attempt.failed(e);
      }
    }
  }

  private Outcome handle(FinishingAttempt open) throws Exception {
    Attempt attempt = new Attempt(List.of(new HandlerAttempt(open)));
    try {
      runner.run(attempt);
    } catch (HandlerTransactions.NotTaken e) {
      return e.outcomes().get(0);
    } catch (Exception e) {
      if (!attempt.isCommitted(e)) {
        throw e;
      }
      Log.LOG.log(
          System.Logger.Level.WARNING,
          open.firing() + " is committed, although its runner has failed",
          e);
    }
    return attempt.outcome();
  }

  private final class Attempt implements HandlerRunner.Work {
    private final List<HandlerAttempt> attempts;
    private @Nullable Connection connection;
    private @Nullable String begun;
    private @Nullable Outcome outcome;
    private @Nullable String transactionId;

    Attempt(List<HandlerAttempt> attempts) {
      this.attempts = attempts;
    }

    @Override
    public void handle(Connection given) throws Exception {
      begun = begin(given);
      steps.call(given, attempts);
      connection = given;
    }

    @Override
    public void finish() {
      Connection handled = requireNonNull(connection, "finished before it was handled");
      try {
        HandlerTransactions.Recorded recorded =
            steps.finish(handled, requireNonNull(begun), false, attempts);
        transactionId = recorded.transactionId();
        outcome = recorded.outcomes().get(0);
      } catch (SQLException e) {
        throw transactions.failure(e);
      }
    }

    boolean isCommitted(Exception failure) {
      String id = transactionId;
      return id != null && transactions.isCommitted(id, failure);
    }

    Outcome outcome() {
      if (outcome == null) {
        throw new IllegalStateException(
            "the runner of the handler's transaction has not finished the work that it was given");
      }
      return outcome;
    }
  }
}
