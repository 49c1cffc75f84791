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
    JdbcTimerStoreBuilder builder(DataSource source) {
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

    @Override
    String waitBriefly() {
      return "SET LOCAL lock_timeout = '1s'";
    }

    @Override
    String otherTables() {
      return "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace"
          + " AND relkind = 'r' AND relname NOT LIKE 'timewheel%'";
    }

    /** Contains the statistics, too, which change the plans. */
    @Override
    String fingerprint() {
      return "SELECT concat_ws(' ', c.relname, c.reltuples, c.relchecks, c.relhastriggers,"
          + " c.relhasrules, c.relrowsecurity, (SELECT string_agg(concat_ws(' ', attname,"
          + " atttypid, attnotnull, atthasdef, attisdropped), ',' ORDER BY attnum)"
          + " FROM pg_attribute WHERE attrelid = c.oid)) FROM pg_class c"
          + " WHERE c.relnamespace = current_schema()::regnamespace ORDER BY c.relname";
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
    JdbcTimerStoreBuilder builder(DataSource source) {
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

    @Override
    String waitBriefly() {
      return POSTGRESQL.waitBriefly();
    }

    @Override
    String otherTables() {
      return POSTGRESQL.otherTables();
    }

    @Override
    String fingerprint() {
      return POSTGRESQL.fingerprint();
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
    JdbcTimerStoreBuilder builder(DataSource source) {
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

    @Override
    String waitBriefly() {
      return "SET SESSION innodb_lock_wait_timeout = 1, lock_wait_timeout = 1";
    }

    @Override
    String otherTables() {
      return "SELECT table_name FROM information_schema.tables"
          + " WHERE table_schema = database() AND table_name NOT LIKE 'timewheel%'";
    }

    @Override
    String fingerprint() {
      return "SELECT concat_ws(' ', table_name, column_name, column_type, is_nullable,"
          + " column_default)"
          + " FROM information_schema.columns WHERE table_schema = database()"
          + " UNION ALL SELECT concat_ws(' ', table_name, index_name, column_name)"
          + " FROM information_schema.statistics WHERE table_schema = database()"
          + " UNION ALL SELECT concat_ws(' ', table_name, constraint_name, check_clause)"
          + " FROM information_schema.check_constraints WHERE constraint_schema = database()"
          + " UNION ALL SELECT trigger_name"
          + " FROM information_schema.triggers WHERE trigger_schema = database() ORDER BY 1";
    }
  };

  /**
   * {@return the kind of database that a test object names by {@link On}; PostgreSQL by default}
   */
  static Server of(Object test) {
    for (Class<?> type = test.getClass(); type != null; type = type.getEnclosingClass()) {
      On on = type.getAnnotation(On.class);
      if (on != null) {
        return on.value();
      }
    }
    return POSTGRESQL;
  }

  abstract DatabaseServer server();

  /** {@return a database or schema without tables} */
  abstract Database empty();

  abstract JdbcTimerStoreBuilder builder(DataSource source);

  /** {@return an expression for the number of the connection} */
  abstract String ownConnection();

  /** {@return a statement that lifts the idle timeout of the current transaction} */
  abstract String liftIdleTimeout();

  /** {@return a statement that sets the statement timeout of its session} */
  abstract String limitStatements(int millis);

  /** {@return a query that takes this long} */
  abstract String sleep(double seconds);

  /** {@return a statement that makes the other statements of a transaction wait for 1 s at most} */
  abstract String waitBriefly();

  /** {@return a query for the tables that are not the store's} */
  abstract String otherTables();

  /** {@return a query whose result changes with the schema} */
  abstract String fingerprint();

  /** {@return a statement that kills another connection} */
  abstract String kill(long connection);
}
