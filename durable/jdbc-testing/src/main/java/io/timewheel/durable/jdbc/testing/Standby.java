// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.testing;

import java.io.IOException;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Runs a standby of a PostgreSQL server: a separate server that replicates the primary until it is
 * promoted. Clients may read from it.
 */
public final class Standby implements AutoCloseable {
  private static final String NAME = "standby";
  private static final long TIMEOUT_SECONDS = 60;

  private final DatabaseServer primary;
  private final Copy server;

  private Standby(DatabaseServer primary) {
    this.primary = primary;
    server = new Copy(primary);
  }

  /** The standby server, whose data is a copy of the primary's. */
  private static final class Copy extends PostgreSqlServer {
    private final DatabaseServer original;

    Copy(DatabaseServer original) {
      super(Binaries.find("initdb"), Binaries.find("postgres"));
      this.original = original;
    }

    @Override
    void initialize() throws IOException, InterruptedException {
      Processes.run(
          directory().resolve("log"),
          List.of(
              Binaries.find("pg_basebackup").toString(),
              "--no-sync",
              "--pgdata=" + data(),
              "--username=" + original.administration().user(),
              "--dbname=host=127.0.0.1 port=" + original.port() + " application_name=" + NAME,
              "--write-recovery-conf",
              "--wal-method=stream",
              "--checkpoint=fast"));
    }
  }

  /**
   * Creates a standby; returns when it replicates. The primary does not wait for it.
   *
   * @param primary a running PostgreSQL server
   */
  public static Standby of(DatabaseServer primary) {
    Standby standby = new Standby(primary);
    try {
      standby.server.sync(false).start();
      standby.awaitStream();
      return standby;
    } catch (RuntimeException e) {
      standby.close();
      throw e;
    }
  }

  /** {@return the standby server, which can be stopped and started again like any other} */
  public DatabaseServer server() {
    return server;
  }

  /** Makes commits on the primary wait for the standby. */
  public Standby waitedFor() {
    configure(primary, "synchronous_standby_names", NAME);
    await(primary, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'", 1);
    return this;
  }

  /**
   * Stops commits on the primary from waiting for the standby, as an administrator does after its
   * loss.
   */
  public void notWaitedFor() {
    configure(primary, "synchronous_standby_names", "");
  }

  /** Waits until the standby replicates. */
  private void awaitStream() {
    await(primary, "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'", 1);
  }

  /**
   * Disconnects the standby after it has replayed all commits so far. It receives none of the later
   * ones.
   */
  public void cutOff() {
    awaitReplay();
    configure(server, "primary_conninfo", "");
    await(server, "SELECT count(*) FROM pg_stat_wal_receiver", 0);
  }

  private void awaitReplay() {
    String written = "SELECT pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::bigint";
    String replayed = "SELECT (pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0') >= %d)::integer";
    try {
      await(server, replayed.formatted(primary.administration().number(written)), 1);
    } catch (SQLException e) {
      throw new IllegalStateException(written, e);
    }
  }

  /** Promotes the standby to a primary. The caller must ensure that the former primary is down. */
  public void promote() {
    await(server, "SELECT pg_promote(true, " + TIMEOUT_SECONDS + ")::integer", 1);
  }

  /** {@return a database whose URL lists both servers; clients look for the primary among them} */
  public Database onEither(Database database) {
    String url = database.url().replaceFirst("(:\\d+)/", "$1,127.0.0.1:" + server.port() + "/");
    return new Database(url, database.user(), database.password())
        .with("targetServerType", "primary");
  }

  private static void configure(DatabaseServer server, String setting, String value) {
    try {
      Database administration = server.administration();
      administration.execute("ALTER SYSTEM SET " + setting + " = '" + value + "'");
      administration.execute("SELECT pg_reload_conf()");
    } catch (SQLException e) {
      throw new IllegalStateException(setting, e);
    }
  }

  private static void await(DatabaseServer server, String query, long expected) {
    long startNanos = System.nanoTime();
    try {
      while (server.administration().number(query) != expected) {
        if (System.nanoTime() - startNanos > TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS)) {
          throw new IllegalStateException("never " + expected + ": " + query);
        }
        TimeUnit.MILLISECONDS.sleep(20);
      }
    } catch (SQLException e) {
      throw new IllegalStateException(query, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for " + query, e);
    }
  }

  /** Ends the standby server, and deletes its data. */
  @Override
  public void close() {
    server.close();
  }
}
