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
import javax.sql.DataSource;

/** Loses a COMMIT, or the answer to it, or holds it up, when a test says so. */
final class LossySource extends BareDataSource {
  /** What becomes of the next commits, one after the other. */
  final ArrayDeque<Fate> fates = new ArrayDeque<>();

  /** A connection whose commit is still on its way. */
  Connection delayed;

  /** Lets the transaction of that connection stand still for as long as a test takes. */
  String patience = "";

  /** Has a permit for each commit that is held up. */
  final Semaphore held = new Semaphore(0);

  /** Lets one of those go on. */
  final Semaphore goOn = new Semaphore(0);

  int commits;

  /** How many statements in autocommit mode have inserted timers. */
  int directWrites;

  /** Whether a connection does nothing more after its commit, though it lives. */
  boolean failsAfterCommit;

  /** Is run when a connection is asked for. */
  Runnable onConnection = () -> {};

  /** Is run before a statement is prepared. */
  Runnable onPrepare = () -> {};

  /** The statement that was prepared last. */
  String prepared = "";

  /** Is run before a transaction is rolled back, or after a direct write was lost. */
  Runnable onRollback = () -> {};

  /** Whether a connection that is given back says that this has failed. */
  boolean failsToClose;

  /** Whether the connections that there are do not answer when they are asked. */
  volatile boolean silent;

  /** Has a permit for each connection that is aborted. */
  final Semaphore aborted = new Semaphore(0);

  /** How many more connections the thread of the test gets. */
  int connections = Integer.MAX_VALUE;

  /** The one that is delayed, or was. */
  private volatile Connection dead;

  private final Thread test = Thread.currentThread();

  int refused;

  /** Whose commits they are; those of all threads if null. */
  volatile Thread only;

  private final DataSource source;

  /** What becomes of a commit. */
  enum Fate {
    /** The server commits, and its answer is lost. */
    ANSWER_LOST,
    /** The commit does not come to the server, which notices that the connection is gone. */
    COMMIT_LOST,
    /** The connection looks dead, but the commit is only slow. */
    COMMIT_DELAYED,
    /** The thread that is about to commit stands still, until the test lets it go on. */
    HELD,
    /** The server aborts, because it has no room for a notification. */
    HINT_REFUSED
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
    return (Connection)
        Proxy.newProxyInstance(
            LossySource.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
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
              if (method.getName().equals("prepareStatement")) {
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
              if (real == dead && method.getName().matches("rollback|close")) {
                return null; // for this side the connection is dead
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

  /** The server commits such a statement before it answers. */
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
      case HINT_REFUSED -> {
        rollback.run();
        throw new SQLException("too many notifications in the NOTIFY queue", "54000");
      }
      case ANSWER_LOST -> commit.run();
      case COMMIT_LOST -> rollback.run();
      case COMMIT_DELAYED -> {
        if (direct) {
          real.setAutoCommit(false);
          commit.run(); // the statements, without a commit
        }
        dead = real;
        delayed = real;
        if (!patience.isEmpty()) {
          try (Statement statement = real.createStatement()) {
            statement.execute(patience);
          }
        }
      }
    }
    if (direct) {
      onRollback.run();
    }
    throw new SQLException("the connection is gone", "08006");
  }
}
