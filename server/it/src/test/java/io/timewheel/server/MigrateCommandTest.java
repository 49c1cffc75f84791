// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreException.Kind;
import io.timewheel.server.cli.Main;
import io.timewheel.server.cli.MigrateCommand;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** Tests {@code timewheel store migrate}. Other tests verify its effect on tables. */
class MigrateCommandTest {
  private static final String TABLES =
      "SELECT count(*) FROM information_schema.tables WHERE table_name = 'timewheel_meta'";

  @TempDir private Path directory;
  private StringWriter out = new StringWriter();
  private StringWriter err = new StringWriter();

  private int run(Map<String, String> environment, List<String> words) throws IOException {
    out = new StringWriter();
    err = new StringWriter();
    CommandLine line = Main.commandLine(environment);
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    return line.execute(words.toArray(String[]::new));
  }

  private int migrate(Database database, String... more) throws IOException {
    Path password = directory.resolve("password");
    Files.deleteIfExists(password);
    Files.createFile(
        password,
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Files.writeString(password, database.password());
    List<String> words = new ArrayList<>(List.of("store", "migrate"));
    words.addAll(List.of("--store", database.url(), "--store-user", database.user()));
    words.addAll(List.of("--store-password-file", password.toString()));
    words.addAll(List.of(more));
    return run(Map.of(), words);
  }

  @Test
  void printsTheStatementsAndCreatesTheTables() throws Exception {
    Database database = TestDatabases.postgresql().createDatabase();
    assertThat(migrate(database, "--print")).as(err + "").isZero();
    assertThat(database.number(TABLES)).isZero();
    String script = out.toString();

    assertThat(migrate(database)).as(err + "").isZero();
    assertThat(out).hasToString("format 6" + System.lineSeparator());
    assertThat(database.number(TABLES)).isOne();
    assertThat(migrate(database, "--print", "--finish")).as(err + "").isZero();
    assertThat(out.toString()).as("nothing to do").isEmpty();
    assertThat(migrate(database, "--finish", "-o", "json")).as(err + "").isZero();
    assertThat(Running.MAPPER.readTree(out.toString()))
        .isEqualTo(Running.MAPPER.readTree("{\"format\":6,\"pending\":false}"));

    Database other = TestDatabases.postgresql().createDatabase();
    other.execute(script);
    assertThat(migrate(other, "--print")).as(err + "").isZero();
    assertThat(out.toString()).as("nothing to do").isEmpty();
  }

  @Test
  void acceptsMariaDb() throws Exception {
    Database database = TestDatabases.mariadb().createDatabase();
    assertThat(migrate(database, "--print")).as(err + "").isZero();
    assertThat(out.toString()).contains("ENGINE = InnoDB");
    assertThat(migrate(database)).as(err + "").isZero();
    assertThat(migrate(database, "--print")).as(err + "").isZero();
    assertThat(out.toString()).isEmpty();
  }

  @Test
  void refusesAnUnknownFormat() throws Exception {
    Database database = TestDatabases.postgresql().createDatabase();
    assertThat(migrate(database)).isZero();
    database.execute("UPDATE timewheel_meta SET value = 99 WHERE name = 'format'");
    assertThat(migrate(database, "--finish")).isEqualTo(1);
    assertThat(err)
        .hasToString("timewheel: the tables have format 99 (expected: 6)" + System.lineSeparator());
  }

  @Test
  void reportsThatNoDatabaseAnswers() throws IOException {
    assertThat(migrate(new Database("jdbc:postgresql://127.0.0.1:1/none", "nobody", "")))
        .isEqualTo(5);
    assertThat(err.toString().lines()).hasSize(1);
    assertThat(err.toString()).contains("Connection to 127.0.0.1:1 refused");
  }

  @Test
  void aLiveNodeThatBlocksIsAConflict() {
    assertThat(MigrateCommand.exitCode(new StoreException(Kind.REJECTED, "a lives", null)))
        .isEqualTo(4);
    SQLException denied = new SQLException("denied", "42501");
    assertThat(MigrateCommand.exitCode(new StoreException(Kind.UNAVAILABLE, "denied", denied)))
        .isEqualTo(1);
  }

  @Test
  void requiresADatabase() throws IOException {
    assertThat(run(Map.of(), List.of("store", "migrate"))).isEqualTo(2);
    assertThat(err.toString()).contains("--store is missing");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"jdbc:postgresql://db.example/timers?password=hunter2", "redis://hunter2.example"})
  void refusesAMalformedAddress(String url) throws IOException {
    assertThat(run(Map.of(), List.of("store", "migrate", "--store", url))).isEqualTo(2);
    assertThat(run(Map.of("TIMEWHEEL_STORE", url), List.of("store", "migrate"))).isEqualTo(2);
    assertThat(out + "" + err).contains("--store").doesNotContain("hunter2");
  }
}
