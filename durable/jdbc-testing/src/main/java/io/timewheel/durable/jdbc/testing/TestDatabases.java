// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.testing;

import java.util.NoSuchElementException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

/**
 * The servers that all tests of this JVM share: one of each kind, started when first asked for, and
 * ended with the JVM. Each test class makes a database of its own. They do not wait for the disk.
 *
 * <p>Where the binaries of a server are absent, the test that asks is skipped, and says why.
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

  /** {@return the running PostgreSQL of this JVM}; a test that crashes it starts it again. */
  public static DatabaseServer postgresql() {
    return POSTGRESQL.server();
  }

  /** {@return the running MariaDB of this JVM}; a test that crashes it starts it again. */
  public static DatabaseServer mariadb() {
    return MARIADB.server();
  }

  /** {@return the running pooler before the PostgreSQL of this JVM} */
  public static Pooler pooler() {
    return POOLER.server();
  }

  private static void start(DatabaseServer server) {
    server.sync(false).start();
  }

  /** One server, or the reason why there is none. */
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
        server = current; // also if it does not start: the next test need not wait for it again
        start.accept(current);
      }
      return current;
    }
  }
}
