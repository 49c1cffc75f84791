// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Runs a database server with its own data, which is deleted at the close. A stopped or crashed
 * server can be started again on the same port and data.
 *
 * <p>Applications create their own server; tests share the servers of {@link TestDatabases}.
 */
public abstract class DatabaseServer implements AutoCloseable {
  private static final long TIMEOUT_SECONDS = 60;
  private static final int STARTS = 5;

  private final Path directory;
  private final Map<String, String> settings = new LinkedHashMap<>();
  private int port;
  private int databases;
  private @Nullable Process process;

  DatabaseServer() {
    directory = Directories.create();
  }

  /**
   * Creates a PostgreSQL server without starting it.
   *
   * @throws java.util.NoSuchElementException if PostgreSQL is not installed
   */
  public static DatabaseServer postgresql() {
    return new PostgreSqlServer(Binaries.find("initdb"), Binaries.find("postgres"));
  }

  /**
   * Creates a MariaDB server without starting it.
   *
   * @throws java.util.NoSuchElementException if MariaDB is not installed
   */
  public static DatabaseServer mariadb() {
    return new MariaDbServer(Binaries.find("mariadb-install-db"), Binaries.find("mariadbd"));
  }

  /**
   * Sets a server setting, named as in the server's documentation. Takes effect at the next start.
   */
  public final DatabaseServer set(String setting, Object value) {
    settings.put(setting, value.toString());
    return this;
  }

  /**
   * Sets whether a commit waits until it is on disk. If false, a commit survives a crash of the
   * server process, but not of the machine.
   */
  public abstract DatabaseServer sync(boolean sync);

  /** Creates the data. */
  abstract void initialize() throws IOException, InterruptedException;

  abstract List<String> command(int port, Map<String, String> settings);

  /** {@return the signal that shuts the server down quickly and cleanly} */
  abstract String stopSignal();

  /** {@return the signal that the server gets when this JVM dies} */
  abstract String deathSignal();

  /** {@return the database for administration} */
  public abstract Database administration();

  abstract Database create(Statement statement, String name) throws SQLException;

  final Path data() {
    return directory.resolve("data");
  }

  /** {@return the directory of the server, which the server can write to} */
  final Path directory() {
    return directory;
  }

  /** {@return the port on the loopback interface, which never changes} */
  public final int port() {
    return port;
  }

  /** {@return the process id of the server} */
  public final long pid() {
    return running().pid();
  }

  /** {@return whether the server process is alive; it may be starting or stopping} */
  public final boolean isRunning() {
    Process current = process;
    return current != null && current.isAlive();
  }

  private Process running() {
    Process current = process;
    if (current == null) {
      throw new IllegalStateException("the server has not been started");
    }
    return current;
  }

  /** Starts the server; returns when it accepts connections. */
  public final DatabaseServer start() {
    if (isRunning()) {
      throw new IllegalStateException("the server is already running");
    }
    try {
      boolean first = port == 0;
      if (first) {
        initialize();
      }
      // Processes that a crash left behind may still lock the data, and another process may use the
      // port.
      for (int i = 1; ; i++) {
        if (first) {
          port = Ports.free();
        }
        process = Processes.start(log(), deathSignal(), command(port, settings));
        if (awaitConnections()) {
          return this;
        }
        crash();
        if (i == STARTS) {
          throw new IllegalStateException("the server has not started: " + Processes.tail(log()));
        }
        TimeUnit.MILLISECONDS.sleep(200);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while a server was started", e);
    }
  }

  private boolean awaitConnections() throws InterruptedException {
    long startNanos = System.nanoTime();
    while (isRunning()) {
      try (Connection connection = administration().connect()) {
        return connection.isValid(0);
      } catch (SQLException e) {
        if (System.nanoTime() - startNanos > TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS)) {
          throw new IllegalStateException("the server accepts no connections: see " + log(), e);
        }
        TimeUnit.MILLISECONDS.sleep(20);
      }
    }
    return false;
  }

  private Path log() {
    return directory.resolve("log");
  }

  /** Shuts the server down cleanly; returns when it has ended. Cuts its connections. */
  public final void stop() {
    Process current = running();
    Processes.signal(stopSignal(), List.of(current.toHandle()));
    try {
      if (!current.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
        crash();
        throw new IllegalStateException("the server has not stopped: see " + log());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while a server was stopped", e);
    }
  }

  /** Kills all processes of the server at once, with a signal that they cannot handle. */
  public final void crash() {
    Processes.kill(running());
  }

  /** Suspends all processes of the server until {@link #goOn}. */
  public final void suspend() {
    signalAll("STOP");
  }

  /** Resumes the suspended processes. */
  public final void goOn() {
    signalAll("CONT");
  }

  private void signalAll(String signal) {
    List<ProcessHandle> all = new ArrayList<>();
    all.add(running().toHandle());
    running().descendants().forEach(all::add);
    Processes.signal(signal, all);
  }

  /** Creates an empty database with a unique name, and a user that owns it. */
  public final synchronized Database createDatabase() {
    String name = "timewheel_" + ++databases;
    try (Connection connection = administration().connect();
        Statement statement = connection.createStatement()) {
      return create(statement, name);
    } catch (SQLException e) {
      throw new IllegalStateException("cannot create a database", e);
    }
  }

  /** Kills the server, and deletes its data. */
  @Override
  public final void close() {
    if (isRunning()) {
      crash();
    }
    Directories.delete(directory);
  }
}
