// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.DatabaseServer;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import javax.sql.DataSource;

/** A kind of database, as tests see it. */
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
    String mayStandStill() {
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
      return POSTGRESQL.builder(source).hints(false);
    }

    @Override
    String ownConnection() {
      return POSTGRESQL.ownConnection();
    }

    @Override
    String mayStandStill() {
      return POSTGRESQL.mayStandStill();
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

    /** Takes scripts. */
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
    String mayStandStill() {
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
   * {@return the one that a test is about: in {@link MariaDbTest} the same tests run on MariaDB, in
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

  /** {@return a place without tables} */
  abstract Database empty();

  abstract JdbcTimerStore.Builder builder(DataSource source);

  /** {@return an expression for the number of the connection} */
  abstract String ownConnection();

  /**
   * {@return a statement that lifts the limit for standing still of a transaction that has begun}
   */
  abstract String mayStandStill();

  /** {@return a statement that limits the time of each later statement of its session} */
  abstract String limitStatements(int millis);

  /** {@return a query that takes so long} */
  abstract String sleep(double seconds);

  /** {@return a statement that ends another connection} */
  abstract String kill(long connection);
}
