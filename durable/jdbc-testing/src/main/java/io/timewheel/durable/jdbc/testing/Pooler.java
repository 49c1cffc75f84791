// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Runs pgbouncer in transaction mode in front of a PostgreSQL server. Consecutive transactions of a
 * client may use different server connections. The pooler never outlives this JVM.
 */
public final class Pooler implements AutoCloseable {
  private static final int STARTS = 5;
  private static final long TIMEOUT_SECONDS = 60;

  private final Path program;
  private final DatabaseServer server;
  private final Path directory = Directories.create();
  private final Path log = directory.resolve("log");
  private int port;
  private @Nullable Process process;

  private Pooler(Path program, DatabaseServer server) {
    this.program = program;
    this.server = server;
  }

  /**
   * Creates a pooler without starting it.
   *
   * @param server a running PostgreSQL server
   * @throws java.util.NoSuchElementException if pgbouncer is not installed
   */
  public static Pooler before(DatabaseServer server) {
    return new Pooler(Binaries.find("pgbouncer"), server);
  }

  /** Starts the pooler; returns when it accepts connections. */
  public void start() {
    try {
      tryToStart();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while a pooler was started", e);
    }
  }

  private void tryToStart() throws IOException, InterruptedException {
    for (int i = 1; ; i++) { // another process may use the port
      port = Ports.free();
      Path settings = Files.writeString(directory.resolve("settings"), settings());
      Process started =
          Processes.start(log, "KILL", List.of(program.toString(), settings.toString()));
      process = started;
      if (awaitConnections(started)) {
        return;
      }
      if (i == STARTS) {
        throw new IllegalStateException("the pooler has not started: " + Processes.tail(log));
      }
    }
  }

  /** Returns the settings. The pooler has no list of users, but queries the server for them. */
  private String settings() {
    return """
    [databases]
    * = host=127.0.0.1 port=%d auth_user=%s
    [pgbouncer]
    listen_addr = 127.0.0.1
    listen_port = %d
    unix_socket_dir =
    auth_type = trust
    pool_mode = transaction
    server_round_robin = 1
    max_client_conn = 1000
    ignore_startup_parameters = extra_float_digits
    """
        .formatted(server.port(), server.administration().user(), port);
  }

  private boolean awaitConnections(Process started) throws InterruptedException {
    long startNanos = System.nanoTime();
    while (started.isAlive()) {
      try (Connection connection = server.administration().through(port).connect()) {
        return connection.isValid(0);
      } catch (SQLException e) {
        if (System.nanoTime() - startNanos > TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS)) {
          throw new IllegalStateException("the pooler accepts no connections: see " + log, e);
        }
        TimeUnit.MILLISECONDS.sleep(20);
      }
    }
    return false;
  }

  /** {@return the port on the loopback interface} */
  public int port() {
    return port;
  }

  /** Ends the pooler, and cuts all its connections. */
  @Override
  public void close() {
    Process current = process;
    if (current != null) {
      Processes.kill(current);
    }
    Directories.delete(directory);
  }
}
