// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.DatabaseServer;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import javax.sql.DataSource;

/** A kind of database, with the SQL that tests need. */
enum Server {
  POSTGRESQL {
    @Override
    DatabaseServer server() {
      return TestDatabases.postgresql();
    }

    @Override
    Database empty() {
      return EmptySchema.create();
    }

    @Override
    JdbcTimerStore.Builder builder(DataSource source) {
      return JdbcTimerStore.postgresqlBuilder(source);
    }

    @Override
    String ownConnection() {
      return "pg_backend_pid()";
    }

    @Override
    String liftIdleTimeout() {
      return "SET LOCAL idle_in_transaction_session_timeout = 0";
    }

    @Override
    String limitStatements(int millis) {
      return "SET statement_timeout = " + millis;
    }

    @Override
    String sleep(double seconds) {
      return "SELECT pg_sleep(" + seconds + ")";
    }

    @Override
    String kill(long connection) {
      return "SELECT pg_terminate_backend(" + connection + ", 10000)";
    }
  },

  /** PostgreSQL behind a pooler in transaction mode. */
  POOLER {
    @Override
    DatabaseServer server() {
      return POSTGRESQL.server();
    }

    @Override
    Database empty() {
      return PooledDatabase.create();
    }

    @Override
    JdbcTimerStore.Builder builder(DataSource source) {
      return POSTGRESQL.builder(source).notifications(false);
    }

    @Override
    String ownConnection() {
      return POSTGRESQL.ownConnection();
    }

    @Override
    String liftIdleTimeout() {
      return POSTGRESQL.liftIdleTimeout();
    }

    @Override
    String limitStatements(int millis) {
      return POSTGRESQL.limitStatements(millis);
    }

    @Override
    String sleep(double seconds) {
      return POSTGRESQL.sleep(seconds);
    }

    @Override
    String kill(long connection) {
      return POSTGRESQL.kill(connection);
    }
  },

  MARIADB {
    @Override
    DatabaseServer server() {
      return TestDatabases.mariadb();
    }

    /** Executes scripts. */
    @Override
    Database empty() {
      return server().createDatabase().with("allowMultiQueries", true);
    }

    @Override
    JdbcTimerStore.Builder builder(DataSource source) {
      return JdbcTimerStore.mariadbBuilder(source);
    }

    @Override
    String ownConnection() {
      return "connection_id()";
    }

    @Override
    String liftIdleTimeout() {
      return "SET SESSION idle_transaction_timeout = 0";
    }

    @Override
    String limitStatements(int millis) {
      return "SET SESSION max_statement_time = " + millis / 1_000.0;
    }

    @Override
    String sleep(double seconds) {
      return "SELECT sleep(" + seconds + ")";
    }

    @Override
    String kill(long connection) {
      return "KILL CONNECTION " + connection;
    }
  };

  /**
   * {@return the kind for a test object: {@link MariaDbTest} runs the same tests on MariaDB, and
   * {@link PoolerTest} through a pooler}
   */
  static Server of(Object test) {
    Class<?> enclosing = test.getClass().getEnclosingClass();
    if (enclosing == PoolerTest.class) {
      return POOLER;
    }
    return enclosing == MariaDbTest.class ? MARIADB : POSTGRESQL;
  }

  abstract DatabaseServer server();

  /** {@return a database or schema without tables} */
  abstract Database empty();

  abstract JdbcTimerStore.Builder builder(DataSource source);

  /** {@return an expression for the number of the connection} */
  abstract String ownConnection();

  /** {@return a statement that lifts the idle timeout of the current transaction} */
  abstract String liftIdleTimeout();

  /** {@return a statement that sets the statement timeout of its session} */
  abstract String limitStatements(int millis);

  /** {@return a query that takes this long} */
  abstract String sleep(double seconds);

  /** {@return a statement that kills another connection} */
  abstract String kill(long connection);
}
