// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.transaction;

import io.timewheel.durable.jdbc.internal.rows.Formats;
import io.timewheel.durable.jdbc.internal.server.CommitProof;
import io.timewheel.durable.jdbc.internal.server.ServerErrors;
import io.timewheel.durable.jdbc.internal.server.ServerParts;
import io.timewheel.durable.jdbc.internal.server.TransactionSql;
import io.timewheel.durable.jdbc.internal.sql.Log;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreException.Kind;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Runs transactions on connections of the user's pool. Repeats them if that is safe, and determines
 * whether they were committed.
 *
 * <p>A transaction that fails before COMMIT is sent has changed nothing. It is repeated if it may
 * succeed the next time: a bounded number of times, with jitter. If the answer to COMMIT is lost,
 * its outcome is looked up on another connection, after this one was given back. The transaction is
 * repeated only if it was certainly rolled back.
 */
public final class Transactions {
  private static final int MAX_TRIES = 6;
  private static final int MAX_LOOKS = 40;

  /**
   * No lookup of an outcome begins later than this, because a lookup may wait for the pool for 30
   * s.
   */
  private static final long LAST_LOOK_NANOS = TimeUnit.SECONDS.toNanos(20);

  /** The maximum number of confirmations. Each may take as long as the timeout of a connection. */
  private static final int MAX_CONFIRMATIONS = 3;

  private static final long FIRST_WAIT_MILLIS = 5;
  private static final long LOOK_MILLIS = 250;

  private final DataSource source;
  private final Formats formats;
  private final ServerErrors errors;
  private final CommitProof commits;
  private final TransactionSql sql;
  private final Pauses pauses;
  private final Counters counters;
  private volatile boolean closed;

  /** Waits between two tries. */
  public interface Pauses {
    /** Waits for about this time in milliseconds, with jitter. */
    void pause(long millis);
  }

  /** Performs the work of a transaction. */
  public interface Work<T extends @Nullable Object> {
    T run(Connection connection) throws SQLException;

    /**
     * {@return the identification for a lookup if the answer to COMMIT is lost; null if none is
     * needed}
     */
    default @Nullable String transactionId(Connection connection, CommitProof commits)
        throws SQLException {
      return commits.transactionId(connection);
    }
  }

  /** Changes in a transaction that has begun. */
  public interface Changes {
    void make(Connection connection) throws SQLException;
  }

  /** Thrown by work that must be repeated in another way. */
  public static final class Again extends RuntimeException {
    private static final long serialVersionUID = 1;

    public Again() {
      super(null, null, false, false);
    }
  }

  public Transactions(DataSource source, ServerParts server, Pauses pauses, Counters counters) {
    this.source = source;
    formats = server.formats();
    errors = server.errors();
    commits = server.commits();
    sql = server.transactions();
    this.pauses = pauses;
    this.counters = counters;
  }

  public void close() {
    closed = true;
  }

  /** Runs work in a transaction. */
  public <T extends @Nullable Object> T write(Work<T> work) {
    return write(work, MAX_TRIES);
  }

  /** Begins a transaction, and makes changes in it that have no result. */
  public void change(Changes changes) {
    boolean unused =
        write(
            connection -> {
              sql.begin(connection);
              changes.make(connection);
              return true;
            });
  }

  /** Runs work in a transaction once, because the caller repeats it soon. */
  public <T extends @Nullable Object> T writeOnce(Work<T> work) {
    return write(work, 1);
  }

  private <T extends @Nullable Object> T write(Work<T> work, int maxTries) {
    for (int tries = 1; ; tries++) {
      Connection connection = open(false);
      Try<T> done;
      try {
        done = once(connection, work);
        if (done.failure != null && errors.isReadOnly(done.failure)) {
          drop(connection, done.failure);
        }
      } finally {
        giveBack(connection);
      }
      if (done.failure == null || (done.lostId != null && isCommitted(done.lostId, done.failure))) {
        return done.result;
      }
      if (tries == maxTries || !errors.mayGoWellNextTime(done.failure)) {
        throw failure(done.failure);
      }
      pauses.pause(FIRST_WAIT_MILLIS << tries);
    }
  }

  /**
   * One try.
   *
   * @param lostId the transaction whose COMMIT failed; null if COMMIT succeeded or was not sent
   */
  private record Try<T extends @Nullable Object>(
      T result, @Nullable SQLException failure, @Nullable String lostId) {}

  @SuppressWarnings("NullAway") // no result if nothing was committed
  private <T extends @Nullable Object> Try<T> once(Connection connection, Work<T> work) {
    T result;
    String id;
    try {
      while (true) {
        try {
          result = work.run(connection);
          break;
        } catch (Again e) {
          connection.rollback();
        }
      }
      id = work.transactionId(connection, commits);
    } catch (SQLException e) {
      rollback(connection, e);
      return new Try<>(null, e, null);
    } catch (RuntimeException | Error e) {
      rollback(connection, e);
      throw e;
    }
    try {
      connection.commit();
      return new Try<>(result, null, null);
    } catch (SQLException e) {
      rollback(connection, e);
      return new Try<>(result, id == null ? null : e, id);
    }
  }

  private static void rollback(Connection connection, Throwable cause) {
    try {
      connection.rollback();
    } catch (SQLException e) {
      cause.addSuppressed(e);
    }
  }

  /**
   * Discards a connection, so that the pool opens another one, which leads to the current primary.
   */
  private static void drop(Connection connection, Throwable why) {
    try {
      connection.abort(Runnable::run);
    } catch (SQLException e) {
      why.addSuppressed(e);
    }
  }

  /**
   * Restores the connection's settings and closes it. A failure here does not change the outcome.
   */
  private void giveBack(Connection connection) {
    try {
      sql.end(connection);
    } catch (SQLException e) {
      drop(connection, e); // the next user must not get these settings
      broken(e);
    } finally {
      close(connection);
    }
  }

  private static void close(Connection connection) {
    try {
      connection.close();
    } catch (SQLException e) {
      broken(e);
    }
  }

  private static void broken(SQLException failure) {
    Log.LOG.log(System.Logger.Level.DEBUG, "a connection is broken after its transaction", failure);
  }

  /**
   * Executes statements that the server commits before it answers. Repeats nothing.
   *
   * @throws SQLException the exception of the driver
   */
  public <T> T direct(Work<T> work) throws SQLException {
    Connection connection = open(true);
    try {
      return work.run(connection);
    } catch (SQLException e) {
      if (errors.isReadOnly(e)) {
        drop(connection, e);
      }
      throw e;
    } catch (StoreException e) {
      throw e;
    } catch (RuntimeException | Error e) {
      drop(connection, e); // it may contain buffered statements
      throw e;
    } finally {
      close(connection); // no setting was changed
    }
  }

  /** Looks up the outcome of a commit whose answer was lost. */
  public interface Look {
    /**
     * Looks up the outcome.
     *
     * @param confirmations counts the tries to confirm that a commit is durable
     * @return whether it was committed; null if that is not known yet
     */
    @Nullable Boolean look(AtomicInteger confirmations) throws SQLException;
  }

  /** Returns whether a transaction was committed whose COMMIT was not answered. */
  public boolean isCommitted(String id, Exception lost) {
    return isCommitted(lost, confirmations -> look(id, confirmations));
  }

  /** Repeats a lookup until the outcome of a commit is known. */
  public boolean isCommitted(Exception lost, Look look) {
    AtomicInteger confirmations = new AtomicInteger();
    long lostNanos = System.nanoTime();
    // After the close, no connection opens.
    for (int looks = 1;
        !closed
            && looks <= MAX_LOOKS
            && confirmations.get() < MAX_CONFIRMATIONS
            && System.nanoTime() - lostNanos < LAST_LOOK_NANOS;
        looks++) {
      try {
        Boolean committed = look.look(confirmations);
        if (committed != null) {
          (committed ? counters.lostAnswersCommitted : counters.lostAnswersAborted).increment();
          return committed;
        }
      } catch (SQLException | StoreException e) {
        lost.addSuppressed(e);
      }
      pauses.pause(LOOK_MILLIS);
    }
    counters.lostAnswersUnknown.increment();
    throw new StoreException(
        Kind.UNKNOWN, "the answer to a commit was lost, and its outcome is unknown", lost);
  }

  /**
   * Looks up the outcome once. A committed change is confirmed by the same wait as a COMMIT. A
   * restarted primary may have commits that its standby lacks and that a failover would lose.
   *
   * @param confirmations counts the tries to confirm
   */
  private @Nullable Boolean look(String id, AtomicInteger confirmations) throws SQLException {
    Connection connection = open(false);
    try {
      sql.begin(connection); // a stalled thread must not delay others longer than this
      Boolean committed = commits.isCommitted(connection, id);
      connection.rollback();
      if (committed != null && committed) {
        confirmations.incrementAndGet();
        connection.setAutoCommit(true);
        commits.touch(connection);
      }
      return committed;
    } catch (SQLException e) {
      rollback(connection, e);
      throw e;
    } finally {
      giveBack(connection);
    }
  }

  /** Reads with one statement. */
  public <T extends @Nullable Object> T read(Work<T> work) {
    formats.checkLast();
    for (int tries = 1; ; tries++) {
      try (Connection connection = open(true)) {
        return work.run(connection);
      } catch (SQLException e) {
        if (tries == MAX_TRIES || !errors.mayGoWellNextTime(e)) {
          throw failure(e);
        }
      }
      pauses.pause(FIRST_WAIT_MILLIS << tries);
    }
  }

  private Connection open(boolean autoCommit) {
    if (closed) {
      throw new StoreException(Kind.UNAVAILABLE, "the session is closed", null);
    }
    Connection connection;
    try {
      connection = counters.connection(source);
    } catch (SQLException e) {
      throw new StoreException(Kind.TRANSIENT, "no connection: " + e.getMessage(), e);
    }
    try {
      connection.setAutoCommit(autoCommit);
      return connection;
    } catch (SQLException e) {
      try {
        connection.close();
      } catch (SQLException second) {
        e.addSuppressed(second);
      }
      throw failure(e);
    }
  }

  /** Returns the exception for a failure before the commit. */
  public StoreException failure(SQLException e) {
    return new StoreException(
        errors.kind(e), "the database: " + e.getMessage() + " (" + e.getSQLState() + ")", e);
  }
}
