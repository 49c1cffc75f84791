// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.DatabaseServer;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import io.timewheel.server.settings.Settings;
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

/** {@code timewheel store} with {@code --store}. */
class SharedStoreCommandTest {
  @TempDir private Path directory;
  private String out = "";
  private String err = "";

  private int store(Database database, String command, String... more) throws Exception {
    Path password = directory.resolve("password");
    Files.deleteIfExists(password);
    Files.createFile(
        password,
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Files.writeString(password, database.password());
    StringWriter output = new StringWriter();
    StringWriter errors = new StringWriter();
    CommandLine line = Main.commandLine(Settings.read(Map.of()));
    line.setOut(new PrintWriter(output, true));
    line.setErr(new PrintWriter(errors, true));
    List<String> words =
        List.of("store", command, "--store", database.url(), "--store-user", database.user());
    int exitCode =
        line.execute(
            Stream.of(words, List.of("--store-password-file", password.toString()), List.of(more))
                .flatMap(List::stream)
                .toArray(String[]::new));
    out = output.toString();
    err = errors.toString();
    return exitCode;
  }

  @Test
  void refusalsNameTheSettingThatNamesTheDatabase() throws Exception {
    String url = "jdbc:postgresql://db.example/timewheel";
    Path file = Files.writeString(directory.resolve("settings"), "store=" + url);
    String refusal = "timewheel: store export needs a directory (--data), and ";
    assertThat(export(Map.of("TIMEWHEEL_STORE", url)))
        .startsWith(refusal + "TIMEWHEEL_STORE names ");
    assertThat(export(Map.of(Settings.FILE, file.toString())))
        .startsWith(refusal + file + " names ");
    assertThat(export(Map.of("TIMEWHEEL_STORE", url), "--store", url))
        .startsWith(refusal + "--store names a database: use pg_dump or mariadb-dump");
  }

  private static String export(Map<String, String> environment, String... more) throws IOException {
    StringWriter errors = new StringWriter();
    CommandLine line = Main.commandLine(Settings.read(environment));
    line.setErr(new PrintWriter(errors, true));
    List<String> words = List.of("store", "export", "-");
    String[] all = Stream.of(words, List.of(more)).flatMap(List::stream).toArray(String[]::new);
    assertThat(line.execute(all)).isEqualTo(2);
    return errors.toString();
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

    assertThat(store(database, "backup", directory.resolve("copy").toString())).isEqualTo(2);
    assertThat(err).contains("pg_dump or mariadb-dump");
    assertThat(store(database, "verify", "--data", directory.toString())).isEqualTo(2);
    assertThat(err).contains("--data and --store exclude each other");
  }
}
