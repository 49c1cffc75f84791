// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.maintenance;

import io.timewheel.durable.jdbc.internal.maintenance.Findings.Problem;
import io.timewheel.durable.jdbc.internal.rows.Formats;
import io.timewheel.durable.jdbc.internal.server.CommitProof;
import io.timewheel.durable.jdbc.internal.server.HistorySql;
import io.timewheel.durable.jdbc.internal.server.ServerErrors;
import io.timewheel.durable.jdbc.internal.server.ServerParts;
import io.timewheel.durable.jdbc.internal.server.TransactionSql;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.jdbc.internal.sql.Statements.Answer;
import io.timewheel.durable.jdbc.internal.transaction.Transactions;
import io.timewheel.durable.jdbc.internal.transaction.Transactions.Work;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.batch.StateCounts;
import io.timewheel.durable.spi.maintenance.IncompleteRepairException;
import io.timewheel.durable.spi.maintenance.VerifyReport;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Verifies the tables and fixes problems, while nodes are running.
 *
 * <p>A transaction changes rows and counters together, so later commits do not change the
 * difference that a snapshot shows. The repair adds it to the counters in the transaction of the
 * snapshot. Only one such transaction runs at a time, so no difference is added twice. All other
 * problems concern one timer each. They are fixed in small transactions, which lock the timer,
 * check the problem again, and change only rows that are still wrong.
 *
 * <p>The repair skips a row that another transaction holds; the next repair checks it again. The
 * repair waits for the first few such rows, each up to the lock timeout of a transaction. If a wait
 * fails, the transaction is rolled back and its problems are fixed one by one. So one held row
 * delays no other fix.
 */
public final class Repair {
  private static final int BATCH = 200;

  /**
   * Limits the total wait for held rows: one wait takes 0.1 s on PostgreSQL, and 1 s on MariaDB.
   */
  private static final int MAX_FAILED_WAITS = 5;

  private final Transactions transactions;
  private final Formats formats;
  private final TransactionSql sql;
  private final ServerErrors errors;
  private final HistorySql history;
  private final TimerRepair timers;
  private final int shards;

  public Repair(Transactions transactions, ServerParts server, int shards) {
    this.transactions = transactions;
    formats = server.formats();
    sql = server.transactions();
    errors = server.errors();
    history = server.history();
    timers = new TimerRepair(server.shared(), shards);
    this.shards = shards;
  }

  /** Verifies without a repair. */
  public VerifyReport verify() {
    return transactions.writeOnce(
        new Work<>() {
          @Override
          public VerifyReport run(Connection connection) throws SQLException {
            return unlimited(connection, () -> verifyWithImport(connection)).report();
          }

          @Override
          public @Nullable String transactionId(Connection connection, CommitProof commits) {
            return null; // nothing to commit
          }
        });
  }

  /**
   * Verifies, then fixes problems.
   *
   * @return the problems that were fixed
   * @throws IncompleteRepairException if rows are held, or if the database fails after a fix
   */
  public VerifyReport repair() {
    Findings fixed = new Findings();
    Findings held;
    int failedWaits = 0;
    boolean again;
    try {
      do {
        Findings found = repairCounters();
        found.differences.forEach(difference -> fixed.text(difference.text()));
        held = new Findings();
        long before = fixed.report().problems();
        for (int from = 0; from < found.problems.size(); from += BATCH) {
          List<Problem> some =
              found.problems.subList(from, Math.min(found.problems.size(), from + BATCH));
          failedWaits += fix(some, failedWaits, fixed, held);
        }
        again = found.isCapped() && fixed.report().problems() > before;
      } while (again);
    } catch (StoreException e) {
      VerifyReport report = fixed.report();
      if (report.isClean()) {
        throw e;
      }
      throw new IncompleteRepairException(
          e.kind(),
          "the repair has fixed %,d problems and failed: %s; run it again"
              .formatted(report.problems(), e.getMessage()),
          report,
          List.of(),
          e);
    }
    checkNoneHeld(held.report(), fixed.report());
    return fixed.report();
  }

  private static void checkNoneHeld(VerifyReport held, VerifyReport fixed) {
    if (!held.isClean()) {
      throw new IncompleteRepairException(
          StoreException.Kind.TRANSIENT,
          "other transactions hold the rows of %,d problems: run the repair again when they have ended"
              .formatted(held.problems()),
          fixed,
          held.texts(),
          null);
    }
  }

  /** Ends a transaction that has waited for a lock for too long. */
  private static final class HeldUpException extends RuntimeException {
    private static final long serialVersionUID = 1;

    HeldUpException() {
      super(null, null, false, false);
    }
  }

  /**
   * Fixes several problems together, or one by one if a row is held.
   *
   * @param failedWaits the number of lock waits that have failed before
   * @return the number of lock waits that have failed
   */
  private int fix(List<Problem> problems, int failedWaits, Findings fixed, Findings held) {
    boolean waits = failedWaits < MAX_FAILED_WAITS;
    try {
      Fixed done = transactions.write(connection -> fix(connection, problems, waits));
      done.fixed().forEach(fixed::text);
      done.held().forEach(held::text);
      return 0;
    } catch (HeldUpException e) {
      if (problems.size() == 1) {
        held.text(problems.get(0).text());
        return 1;
      }
    }
    int failed = 1;
    for (Problem problem : problems) {
      failed += fix(List.of(problem), failedWaits + failed, fixed, held);
    }
    return failed;
  }

  private Findings repairCounters() {
    try {
      return transactions.writeOnce(
          connection -> unlimited(connection, () -> repairCounters(connection)));
    } catch (StoreException e) {
      if (e.getCause() instanceof SQLException cause && errors.isHeldUp(cause)) {
        throw new StoreException(
            e.kind(), "another repair is running: try again when it has ended", e);
      }
      throw e;
    }
  }

  interface Task<T> {
    T run() throws SQLException;
  }

  /**
   * Lifts the connection's network timeout, because a long statement may send nothing for longer.
   */
  static <T> T unlimited(Connection connection, Task<T> task) throws SQLException {
    Executor direct = Runnable::run;
    int timeoutMillis = connection.getNetworkTimeout();
    connection.setNetworkTimeout(direct, 0);
    T result;
    try {
      result = task.run();
    } catch (SQLException | RuntimeException | Error e) {
      try {
        connection.setNetworkTimeout(direct, timeoutMillis);
      } catch (SQLException also) {
        e.addSuppressed(also);
      }
      throw e;
    }
    connection.setNetworkTimeout(direct, timeoutMillis);
    return result;
  }

  private Findings verifyWithImport(Connection connection) throws SQLException {
    Findings found = verify(connection, false);
    if (TimerImport.isUnfinished(connection)) {
      found.text(TimerImport.UNFINISHED);
    }
    return found;
  }

  private Findings verify(Connection connection, boolean exclusive) throws SQLException {
    sql.beginSnapshot(connection, exclusive);
    formats.checkInUse(connection);
    return Verifier.verify(connection, shards, history);
  }

  private Findings repairCounters(Connection connection) throws SQLException {
    Findings found = verify(connection, true);
    StateCounts missing = new StateCounts();
    for (Findings.Difference difference : found.differences) {
      missing.add(difference.scope(), difference.state(), difference.missing());
    }
    if (!missing.isEmpty()) {
      timers.count(connection, missing);
    }
    return found;
  }

  // Problems of one timer

  /** The texts of problems that a transaction has fixed, and of those whose timers are held. */
  private record Fixed(List<String> fixed, List<String> held) {}

  private Fixed fix(Connection connection, List<Problem> problems, boolean waits)
      throws SQLException {
    Fixed result = new Fixed(new ArrayList<>(), new ArrayList<>());
    try {
      begin(connection, waits);
      for (Problem problem : problems) {
        switch (timers.fix(connection, problem)) {
          case FIXED -> result.fixed().add(problem.text());
          case HELD -> result.held().add(problem.text());
          case NONE_LEFT -> {}
        }
      }
    } catch (SQLException e) {
      if (errors.isHeldUp(e)) {
        throw new HeldUpException();
      }
      throw e;
    }
    return result;
  }

  private void begin(Connection connection, boolean waits) throws SQLException {
    if (waits) {
      sql.begin(connection);
      return;
    }
    try (Statements to = new Statements(connection)) {
      Answer<Long> unused = sql.beginBatch(to, false);
      sql.waitForLocks(to, false);
      to.send();
    }
  }
}
