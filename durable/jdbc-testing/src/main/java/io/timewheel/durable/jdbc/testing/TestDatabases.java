// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.testing;

import java.util.NoSuchElementException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

/**
 * Provides the servers that all tests of this JVM share. Each is started at its first use, and ends
 * with the JVM. Its commits do not wait for the disk. Each test class creates its own database. A
 * test that crashes a server starts it again.
 *
 * <p>If the binaries of a server are not installed, tests that need it are skipped with the reason.
 */
public final class TestDatabases {
  private static final Shared<DatabaseServer> POSTGRESQL =
      new Shared<>(
          "postgresql",
          () -> DatabaseServer.postgresql().set("max_connections", "300"), // some tests share it
          TestDatabases::start);
  private static final Shared<DatabaseServer> MARIADB =
      new Shared<>("mariadb-server", DatabaseServer::mariadb, TestDatabases::start);
  private static final Shared<Pooler> POOLER =
      new Shared<>("pgbouncer", () -> Pooler.before(POSTGRESQL.server()), Pooler::start);

  private TestDatabases() {}

  /** {@return the running PostgreSQL server of this JVM} */
  public static DatabaseServer postgresql() {
    return POSTGRESQL.server();
  }

  /**
   * {@return the running MariaDB server of this JVM} Starts it again if it has crashed, for the
   * next test: MariaDB 10.11 may crash in {@code ha_maria::drop_table} when a client is killed.
   */
  public static DatabaseServer mariadb() {
    DatabaseServer server = MARIADB.server();
    synchronized (MARIADB) {
      if (!server.isRunning()) {
        System.err.println("The MariaDB server of the tests has crashed and is started again.");
        server.start();
      }
    }
    return server;
  }

  /** {@return the running pooler in front of the PostgreSQL server of this JVM} */
  public static Pooler pooler() {
    return POOLER.server();
  }

  private static void start(DatabaseServer server) {
    server.sync(false).start();
  }

  /** A server, or the reason why it is not available. */
  static final class Shared<T> {
    private final String debianPackage;
    private final Supplier<T> factory;
    private final Consumer<T> start;
    private @Nullable T server;

    Shared(String debianPackage, Supplier<T> factory, Consumer<T> start) {
      this.debianPackage = debianPackage;
      this.factory = factory;
      this.start = start;
    }

    synchronized T server() {
      T current = server;
      if (current == null) {
        try {
          current = factory.get();
        } catch (NoSuchElementException e) {
          String why =
              "SKIPPED, not tested: " + e.getMessage() + "; install the package " + debianPackage;
          System.err.println(why);
          return Assumptions.abort(why);
        }
        server = current; // set before the start: if it fails, the next test does not wait again
        start.accept(current);
      }
      return current;
    }
  }
}
