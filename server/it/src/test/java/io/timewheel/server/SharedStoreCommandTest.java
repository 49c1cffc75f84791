// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.jdbc.JdbcTimerStore;
import io.timewheel.durable.jdbc.JdbcTimerStoreBuilder;
import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.DatabaseServer;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import io.timewheel.server.cli.Main;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/**
 * Tests {@code timewheel store} with {@code --store}. Only this class verifies {@code init}, {@code
 * export}, {@code import} and {@code verify} on both databases.
 */
class SharedStoreCommandTest {
  @TempDir private Path directory;
  private String out = "";
  private String err = "";

  private int store(Database database, String command, String... more) throws Exception {
    Path password = passwordOf(database);
    List<String> words =
        List.of("store", command, "--store", database.url(), "--store-user", database.user());
    return execute(
        Stream.of(words, List.of("--store-password-file", password.toString()), List.of(more))
            .flatMap(List::stream)
            .toArray(String[]::new));
  }

  private Path passwordOf(Database database) throws IOException {
    Path password = directory.resolve("password");
    Files.deleteIfExists(password);
    Files.createFile(
        password,
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    return Files.writeString(password, database.password());
  }

  private int execute(String... words) throws IOException {
    StringWriter output = new StringWriter();
    StringWriter errors = new StringWriter();
    CommandLine line = Main.commandLine(Map.of());
    line.setOut(new PrintWriter(output, true));
    line.setErr(new PrintWriter(errors, true));
    int exitCode = line.execute(words);
    out = output.toString();
    err = errors.toString();
    return exitCode;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void verifiesAndRepairsADatabase(boolean mariaDb) throws Exception {
    DatabaseServer server = mariaDb ? TestDatabases.mariadb() : TestDatabases.postgresql();
    Database database = server.createDatabase();
    assertThat(store(database, "verify")).isEqualTo(1);
    assertThat(err).contains("`timewheel store migrate` prepares them");
    assertThat(store(database, "migrate")).as(err).isZero();
    assertThat(store(database, "verify")).as(err).isZero();
    database.execute("INSERT INTO timewheel_count (namespace, state, delta) VALUES ('shop', 1, 2)");

    assertThat(store(database, "verify")).isEqualTo(1);
    assertThat(out).contains("the counter of shop in state READY: 2 (expected: 0)");
    assertThat(store(database, "repair")).as(err).isZero();
    assertThat(out).contains("repaired: the counter of shop", "1 problems repaired, 0 left");
    assertThat(store(database, "verify")).as(out).isZero();

    assertThat(store(database, "verify", "--data", directory.toString())).isEqualTo(2);
    assertThat(err).contains("--data and --store exclude each other");
  }

  private static final String DONE =
      """
      {"namespace":"shop","id":"done","version":7,"revision":2,"state":"COMPLETED",\
      "dueAt":1800000000000,"handler":"orders","payload":"AQID",\
      "retry":{"maxAttempts":5,"backoff":"PT1S","maxBackoff":"PT1M"},"missed":"FIRE_ONCE",\
      "graceMillis":0,"createdAt":1,"changedAt":1800000000001}
      """;

  private static final String LATER =
      """
      {"namespace":"shop","id":"later","version":9999,"revision":0,"state":"SCHEDULED",\
      "dueAt":4000000000000,"fireAt":4000000000000,"handler":"orders","payload":"AQID",\
      "headers":{"trace":"a"},"retry":{"maxAttempts":5,"backoff":"PT1S","maxBackoff":"PT1M"},\
      "missed":"FIRE_ONCE","graceMillis":0,"createdAt":1,"changedAt":2}
      """;

  private static final String READY =
      """
      {"namespace":"shop","id":"ready","version":8,"revision":1,"state":"READY",\
      "dueAt":1800000000000,"queue":"mails","payload":"",\
      "retry":{"maxAttempts":5,"backoff":"PT1S","maxBackoff":"PT1M"},"missed":"FIRE_ONCE",\
      "graceMillis":0,"createdAt":1,"changedAt":1800000000000}
      """;

  private static String lines(String... timers) {
    return "{\"timewheel\":\"timers\",\"format\":1,\"lastVersion\":9999,\"paused\":[\"closed\"]}\n"
        + String.join("", timers)
        + "{\"timers\":"
        + timers.length
        + "}\n";
  }

  /** {@return the lines of the timers, in the order of their keys} */
  private static List<String> timers(Path export) throws IOException {
    return Files.readAllLines(export).stream()
        .filter(line -> line.startsWith("{\"namespace\""))
        .sorted()
        .toList();
  }

  private static DatabaseServer server(boolean mariaDb) {
    return mariaDb ? TestDatabases.mariadb() : TestDatabases.postgresql();
  }

  private Database migrated(boolean mariaDb) throws Exception {
    Database database = server(mariaDb).createDatabase();
    assertThat(store(database, "migrate")).as(err).isZero();
    return database;
  }

  private int copyTo(Database target, String... source) throws IOException {
    Path password = passwordOf(target);
    List<String> to = List.of("--to-store", target.url(), "--to-store-user", target.user());
    return execute(
        Stream.of(
                List.of("store", "copy"),
                List.of(source),
                to,
                List.of("--to-store-password-file", password.toString()))
            .flatMap(List::stream)
            .toArray(String[]::new));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void copiesExportsAndImportsADatabase(boolean mariaDb) throws Exception {
    Path original = Files.writeString(directory.resolve("original"), lines(DONE, LATER, READY));
    String data = directory.resolve("data").toString();
    assertThat(execute("store", "import", "--data", data, original.toString())).as(err).isZero();
    Database first = migrated(mariaDb);

    assertThat(copyTo(first, "--data", data)).as(err).isZero();
    assertThat(out).isEqualTo("3 timers copied to " + first.url() + System.lineSeparator());
    assertThat(store(first, "verify")).as(out).isZero();
    assertThat(copyTo(first, "--data", data)).isEqualTo(4);
    assertThat(err).contains(first.url() + " contains 3 timers (expected: none, ");
    assertThat(store(first, "import", original.toString())).as("again: %s", err).isZero();
    assertThat(out).startsWith("0 timers imported");

    Path export = directory.resolve("export");
    assertThat(store(first, "export", export.toString())).as(err).isZero();
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(export)))
        .isEqualTo("rw-------");
    assertThat(export).content().contains("\"paused\":[\"closed\"]");
    String hash =
        "\"payloadHash\":\"039058c6f2c0cb492c533b0a4d14ef77cc0f78abccced5287d84a1a2011cfb81\"";
    assertThat(timers(export))
        .containsExactly(
            DONE.strip()
                .replace("\"AQID\"", "\"\"")
                .replace("\"graceMillis\":0,", "\"graceMillis\":0," + hash + ","),
            LATER.strip(),
            READY.strip());

    Database second = migrated(mariaDb);
    assertThat(store(second, "import", export.toString())).as(err).isZero();
    assertThat(store(second, "verify")).as(out).isZero();
    Path again = directory.resolve("again");
    assertThat(store(second, "export", again.toString())).as(err).isZero();
    assertThat(timers(again)).isEqualTo(timers(export));
    assertThat(second.number("SELECT sum(delta) FROM timewheel_count WHERE namespace = 'shop'"))
        .isEqualTo(3);

    String copy = directory.resolve("copies/copy").toString();
    assertThat(store(second, "backup", copy)).as(err).isZero();
    assertThat(store(second, "backup", copy)).isEqualTo(1);
    assertThat(err).contains(copy + " already exists");
    try (Stream<Path> files = Files.list(directory.resolve("copies"))) {
      assertThat(files).as("no unfinished part").containsExactly(Path.of(copy));
    }
    assertThat(store(second, "copy", "--to-data", copy)).isEqualTo(4);
    assertThat(err).contains(copy + " already exists (expected: a new directory; ");
    assertThat(execute("store", "verify", "--data", copy)).as(out).isZero();
    Path last = directory.resolve("last");
    assertThat(execute("store", "export", "--data", copy, last.toString())).as(err).isZero();
    assertThat(timers(last))
        .containsExactly(DONE.strip().replace("\"AQID\"", "\"\""), LATER.strip(), READY.strip());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anImportIsRefusedWhileANodeLives(boolean mariaDb) throws Exception {
    Path file = Files.writeString(directory.resolve("file"), lines(LATER));
    Database database = migrated(mariaDb);
    try (HikariDataSource pool = database.pool(6)) {
      JdbcTimerStoreBuilder builder =
          mariaDb ? JdbcTimerStore.mariadbBuilder(pool) : JdbcTimerStore.postgresqlBuilder(pool);
      JdbcTimerStore node = builder.node("host-1").open();
      try (DurableTimer scheduler = DurableTimer.builder(node).start()) {
        assertThat(store(database, "import", file.toString())).isEqualTo(1);
        assertThat(err)
            .contains(
                "nodes use the database: host-1#", "stop them, wait until their node leases end");
        assertThat(scheduler.timer("shop", "later").get()).isEmpty();
      }
    }
    assertThat(store(database, "import", file.toString())).as(err).isZero();
    assertThat(out).startsWith("1 timers imported from ");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aFailedImportDescribesTheTargetAndBlocksItsStart(boolean mariaDb) throws Exception {
    Database database = migrated(mariaDb);
    Path cut =
        Files.writeString(directory.resolve("cut"), lines(LATER).replace("{\"timers\":1}\n", ""));

    assertThat(store(database, "import", cut.toString())).isEqualTo(1);

    assertThat(err)
        .contains(
            "the export ends here",
            database.url() + " lacks timers: repeat the command before starting a server on it");
    assertThat(store(database, "verify")).isEqualTo(1);
    assertThat(out).contains("an import into the database has not ended");
    Path password = passwordOf(database);
    assertThat(
            execute(
                "serve",
                "--port=0",
                "--store=" + database.url(),
                "--store-user=" + database.user(),
                "--store-password-file=" + password))
        .isEqualTo(1);
    Path whole = Files.writeString(directory.resolve("whole"), lines(LATER));
    assertThat(store(database, "import", whole.toString())).as(err).isZero();
    assertThat(store(database, "verify")).as(out).isZero();
  }

  @Test
  void aCopyNeedsOneTargetThatIsNotItsSource() throws IOException {
    String data = directory.resolve("data").toString();
    String url = "jdbc:postgresql://db.example/timewheel";
    assertThat(execute("store", "copy", "--data", data)).isEqualTo(2);
    assertThat(err).contains("--to-data, --to-store: (expected: one of them)");
    assertThat(execute("store", "copy", "--to-data", data, "--to-store", url)).isEqualTo(2);
    assertThat(execute("store", "copy", "--data", data, "--to-data", data + "/.")).isEqualTo(2);
    assertThat(err).contains("is also the source");
    assertThat(execute("store", "copy", "--store", url, "--to-store", url)).isEqualTo(2);
    assertThat(err).contains("is also the source");
    assertThat(execute("store", "copy", "--to-store", url + "?password=secret")).isEqualTo(2);
    for (String option : List.of("--to-store-user", "--to-store-password-file")) {
      assertThat(execute("store", "copy", "--data", data, "--to-data", data + "2", option, "x"))
          .isEqualTo(2);
      assertThat(err).contains(option, "not used by --to-data");
    }
    assertThat(execute("store", "copy", "--data", data, "--to-data", data + "2")).isEqualTo(1);
    assertThat(Path.of(data + "2")).as("a missing source makes no target").doesNotExist();
  }
}
