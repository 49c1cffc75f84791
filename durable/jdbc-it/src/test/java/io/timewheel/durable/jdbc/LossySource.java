// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import io.timewheel.durable.jdbc.testing.BareDataSource;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayDeque;
import java.util.concurrent.Semaphore;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;

/** Loses or delays a COMMIT, or loses its answer, when a test requests that. */
final class LossySource extends BareDataSource {
  /** The faults of the next commits, in order. */
  final ArrayDeque<Fate> fates = new ArrayDeque<>();

  /** A connection whose commit is still in progress. */
  Connection delayed;

  /** The statement that lifts the idle timeout of the transaction on that connection. */
  String liftIdleTimeout = "";

  /** A semaphore with a permit for each commit that is held. */
  final Semaphore held = new Semaphore(0);

  /** Releases one held commit. */
  final Semaphore goOn = new Semaphore(0);

  int commits;

  /** The number of statements in autocommit mode that have inserted timers. */
  int directWrites;

  /** True if a connection fails every statement after its commit, although it is alive. */
  boolean failsAfterCommit;

  /** Runs when a connection is requested. */
  Runnable onConnection = () -> {};

  /** Runs before a statement is prepared. */
  Runnable onPrepare = () -> {};

  /** The last statement that was prepared. */
  String prepared = "";

  /** The SQLSTATE of a lost commit. */
  String lostState = "08006";

  /** The code of a lost commit. */
  int lostCode;

  /** Runs before a rollback, or after the loss of a direct write. */
  Runnable onRollback = () -> {};

  /** Changes statements before they are prepared. */
  UnaryOperator<String> rewriting = sql -> sql;

  /** True if connections execute prepared statements only, and cannot be aborted. */
  boolean isBroken;

  /** True if closing a connection throws. */
  boolean failsToClose;

  /** True if the existing connections do not answer a validation. */
  volatile boolean silent;

  /** A semaphore with a permit for each aborted connection. */
  final Semaphore aborted = new Semaphore(0);

  /** The number of connections that the thread of the test can still get. */
  int connections = Integer.MAX_VALUE;

  /** The connection that is or was delayed. */
  private volatile Connection dead;

  private final Thread test = Thread.currentThread();

  /** The number of connections that the thread of the test has and must close. */
  int open;

  int refused;

  /** The thread whose commits are affected; null for all threads. */
  volatile Thread only;

  private final DataSource source;

  /** The fault of a commit. */
  enum Fate {
    /** The server commits, and its answer is lost. */
    ANSWER_LOST,
    /**
     * The commit does not reach the server, and the server detects that the connection is closed.
     */
    COMMIT_LOST,
    /** The connection seems to be lost, but the commit is only slow. */
    COMMIT_DELAYED,
    /** The thread stalls before the commit until the test lets it continue. */
    HELD,
    /** The server aborts, because its notification queue is full. */
    NOTIFICATION_REFUSED
  }

  LossySource(DataSource source) {
    this.source = source;
  }

  @Override
  public Connection getConnection() throws SQLException {
    onConnection.run();
    if (Thread.currentThread() == test && connections-- <= 0) {
      refused++;
      throw new SQLException("refused", "08001");
    }
    Connection real = source.getConnection();
    open += ofTest();
    return (Connection)
        Proxy.newProxyInstance(
            LossySource.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("close")) {
                open -= ofTest();
              }
              if (method.getName().equals("commit")) {
                commit(real);
                return null;
              }
              if (failsAfterCommit && method.getName().equals("createStatement") && commits > 0) {
                throw new SQLException("no statement after a commit", "HY000");
              }
              if (silent && method.getName().equals("isValid")) {
                return false;
              }
              if (method.getName().equals("abort")) {
                aborted.release();
              }
              if (isBroken && method.getName().matches("createStatement|abort")) {
                throw new SQLException("broken", "HY000");
              }
              if (method.getName().equals("prepareStatement")) {
                arguments[0] = rewriting.apply((String) arguments[0]);
                prepared = (String) arguments[0];
                onPrepare.run();
              }
              if (method.getName().equals("rollback")) {
                onRollback.run();
              }
              if (failsToClose && method.getName().equals("close")) {
                real.close();
                throw new SQLException("gone when it was given back", "08006");
              }
              if (real == dead && method.getName().matches("rollback|close|abort")) {
                return null; // on this side, the connection is lost
              }
              if (real == dead && method.getName().equals("createStatement")) {
                throw new SQLException("the connection is gone", "08006");
              }
              // A statement that contains its own COMMIT is delayed before it.
              if (fates.peek() == Fate.COMMIT_DELAYED
                  && method.getName().equals("prepareStatement")) {
                arguments[0] =
                    ((String) arguments[0]).replace(" COMMIT AND NO CHAIN NO RELEASE;", " DO 0;");
              }
              try {
                Object result = method.invoke(real, arguments);
                return method.getName().equals("prepareStatement")
                        && isDirectWrite((String) arguments[0], real)
                    ? directWrite((PreparedStatement) result, real)
                    : result;
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  private int ofTest() {
    return Thread.currentThread() == test ? 1 : 0;
  }

  /** Returns whether a statement is a direct write, which the server commits before it answers. */
  static boolean isDirectWrite(String sql, Connection connection) throws SQLException {
    return sql.contains("INSERT INTO timewheel_timer") && connection.getAutoCommit();
  }

  private PreparedStatement directWrite(PreparedStatement real, Connection connection) {
    return (PreparedStatement)
        Proxy.newProxyInstance(
            LossySource.class.getClassLoader(),
            new Class<?>[] {PreparedStatement.class},
            (proxy, method, arguments) -> {
              try {
                if (method.getName().equals("execute")) {
                  directWrites++;
                  return end(connection, real::execute, () -> {});
                }
                return method.invoke(real, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  /** Ends a transaction. */
  private interface End {
    void run() throws SQLException;
  }

  private void commit(Connection real) throws SQLException {
    commits++;
    end(real, real::commit, real::rollback);
  }

  private boolean end(Connection real, End commit, End rollback) throws SQLException {
    Fate fate = only == null || only == Thread.currentThread() ? fates.poll() : null;
    if (fate == null) {
      commit.run();
      return true;
    }
    boolean direct = real.getAutoCommit();
    switch (fate) {
      case HELD -> {
        held.release();
        goOn.acquireUninterruptibly();
        commit.run();
        return true;
      }
      case NOTIFICATION_REFUSED -> {
        rollback.run();
        throw new SQLException("too many notifications in the NOTIFY queue", "54000");
      }
      case ANSWER_LOST -> commit.run();
      case COMMIT_LOST -> rollback.run();
      case COMMIT_DELAYED -> {
        if (direct) {
          if (!prepared.contains("START TRANSACTION")) {
            real.setAutoCommit(false);
          }
          commit.run(); // the statements, without a commit
        }
        dead = real;
        delayed = real;
        if (!liftIdleTimeout.isEmpty()) {
          try (Statement statement = real.createStatement()) {
            statement.execute(liftIdleTimeout);
          }
        }
      }
    }
    if (direct) {
      onRollback.run();
    }
    throw new SQLException("the connection is gone", lostState, lostCode);
  }
}
