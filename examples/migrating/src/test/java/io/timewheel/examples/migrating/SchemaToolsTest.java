// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples.migrating;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.jdbc.JdbcTimerStore;
import io.timewheel.durable.jdbc.JdbcTimerStoreBuilder;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import liquibase.Liquibase;
import liquibase.Scope;
import liquibase.UpdateSummaryEnum;
import liquibase.database.jvm.JdbcConnection;
import liquibase.resource.DirectoryResourceAccessor;
import liquibase.ui.LoggerUIService;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Verifies that Flyway and Liquibase create the tables as docs/operate/database.md describes. */
@Timeout(120)
final class SchemaToolsTest {
  private static final Path PAGE = Path.of("../../docs/operate/database.md");
  private static final Pattern CHANGELOG = Pattern.compile("(?ms)^```yaml\\n(.*?)^```$");

  enum Server {
    POSTGRESQL,
    MARIADB;

    DataSource createDatabase() {
      return switch (this) {
        case POSTGRESQL -> TestDatabases.postgresql().createDatabase().dataSource();
        case MARIADB -> TestDatabases.mariadb().createDatabase().dataSource();
      };
    }

    JdbcTimerStoreBuilder store(DataSource dataSource) {
      return switch (this) {
        case POSTGRESQL -> JdbcTimerStore.postgresqlBuilder(dataSource);
        case MARIADB -> JdbcTimerStore.mariadbBuilder(dataSource);
      };
    }
  }

  private final Logger liquibaseLog = Logger.getLogger("liquibase");
  private final Path directory;

  SchemaToolsTest(@TempDir Path directory) {
    this.directory = directory;
    liquibaseLog.setLevel(Level.WARNING);
  }

  @ParameterizedTest
  @EnumSource
  void flywayCreatesTheTables(Server server) throws IOException {
    DataSource dataSource = server.createDatabase();
    writeScript(server, dataSource, "V7__timewheel.sql");
    Flyway flyway =
        Flyway.configure().dataSource(dataSource).locations("filesystem:" + directory).load();

    assertThat(flyway.migrate().migrationsExecuted).isOne();
    assertThat(flyway.migrate().migrationsExecuted).isZero();
    assertThatTheTablesWork(server, dataSource);
  }

  @ParameterizedTest
  @EnumSource
  void liquibaseCreatesTheTables(Server server) throws Exception {
    DataSource dataSource = server.createDatabase();
    writeScript(server, dataSource, "timewheel.sql");
    Matcher changelog = CHANGELOG.matcher(Files.readString(PAGE));
    assertThat(changelog.find()).isTrue();
    Files.writeString(directory.resolve("changelog.yaml"), changelog.group(1));

    update(dataSource);
    update(dataSource);
    assertThatTheTablesWork(server, dataSource);
  }

  private void writeScript(Server server, DataSource dataSource, String name) throws IOException {
    Files.writeString(directory.resolve(name), server.store(dataSource).migration(false));
  }

  private void update(DataSource dataSource) throws Exception {
    try (Connection connection = dataSource.getConnection();
        Liquibase liquibase =
            new Liquibase(
                "changelog.yaml",
                new DirectoryResourceAccessor(directory),
                new JdbcConnection(connection))) {
      liquibase.setShowSummary(UpdateSummaryEnum.OFF);
      Scope.child(Scope.Attr.ui, new LoggerUIService(), liquibase::update);
    }
  }

  private static void assertThatTheTablesWork(Server server, DataSource dataSource) {
    JdbcTimerStoreBuilder builder = server.store(dataSource);
    assertThat(builder.migration(false)).as("nothing is left to do").isEmpty();
    try (DurableTimer scheduler = DurableTimer.builder(builder.open()).build()) {
      scheduler.schedule(
          TimerSpec.of("shop", "order-42").after(Duration.ofHours(1)).handler("orders.cancel"));
      assertThat(scheduler.timer("shop", "order-42").get()).isPresent();
    }
  }
}
