// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import io.timewheel.server.settings.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.io.TempDir;

/**
 * Copies between stores that fail, are killed, or find a store in use. Only this test proves that
 * an unfinished copy is detected and can be repeated.
 */
@Timeout(value = 10, unit = MINUTES, threadMode = ThreadMode.SEPARATE_THREAD)
class CopyCommandTest {
  /** The batches into a database have 1,000 timers. */
  private static final int TIMERS = 1_500;

  private static final String TIMER =
      """
      {"namespace":"shop","id":"t%04d","version":%d,"revision":0,"state":"SCHEDULED",\
      "dueAt":4000000000000,"fireAt":4000000000000,"handler":"orders","payload":"",\
      "retry":{"maxAttempts":5,"backoff":"PT1S","maxBackoff":"PT1M"},\
      "missed":"FIRE_ONCE","graceMillis":0,"createdAt":1,"changedAt":2}
      """;

  @TempDir private Path directory;
  private final Programs programs = new Programs();
  private String out = "";
  private String err = "";

  @AfterEach
  void kill() {
    programs.close();
  }

  private int execute(String... words) throws IOException {
    Commands.Ended ended = Commands.run(Map.of(), words);
    out = ended.out();
    err = ended.err();
    return ended.exitCode();
  }

  private String data() {
    return directory.resolve("data").toString();
  }

  private void fill() throws Exception {
    String timers =
        IntStream.range(0, TIMERS)
            .mapToObj(i -> TIMER.formatted(i, i))
            .collect(Collectors.joining());
    Path lines =
        Files.writeString(
            directory.resolve("lines"),
            "{\"timewheel\":\"timers\",\"format\":1,\"lastVersion\":%d,\"paused\":[]}\n%s{\"timers\":%d}\n"
                .formatted(TIMERS, timers, TIMERS));
    assertThat(execute("store", "import", "--data", data(), lines.toString())).as(err).isZero();
  }

  private String password(Database database) throws IOException {
    Path file = Files.writeString(directory.resolve("password"), database.password());
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    return file.toString();
  }

  private int store(Database database, String command) throws Exception {
    return execute(
        "store",
        command,
        "--store",
        database.url(),
        "--store-user",
        database.user(),
        "--store-password-file",
        password(database));
  }

  private String[] copyTo(Database database, String... more) {
    List<String> words =
        new ArrayList<>(List.of("store", "copy", "--data", data(), "--to-store", database.url()));
    words.addAll(List.of("--to-store-user", database.user()));
    words.addAll(List.of(more));
    return words.toArray(String[]::new);
  }

  private int copy(Database database) throws IOException {
    return execute(copyTo(database, "--to-store-password-file", password(database)));
  }

  /** {@return a database in which the second batch of a copy executes a statement} */
  private Database withTrigger(String statement) throws Exception {
    Database database = TestDatabases.postgresql().createDatabase();
    assertThat(store(database, "migrate")).as(err).isZero();
    database.execute(
        "CREATE FUNCTION second_batch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            + statement
            + "; RETURN NEW; END $$");
    database.execute(
        "CREATE TRIGGER second_batch BEFORE INSERT ON timewheel_timer FOR EACH ROW"
            + " WHEN (NEW.id = 't1200') EXECUTE FUNCTION second_batch()");
    return database;
  }

  private void checkIsUnfinished(Database database) throws Exception {
    assertThat(store(database, "verify")).isEqualTo(1);
    assertThat(out).contains("an import into the database has not ended", "1 problems");
  }

  private void copyAgain(Database database) throws Exception {
    database.execute("DROP TRIGGER second_batch ON timewheel_timer");
    assertThat(copy(database)).as(err).isZero();
    assertThat(out).startsWith("500 timers copied to jdbc:postgresql://");
    assertThat(store(database, "verify")).as(out).isZero();
    assertThat(out).startsWith("1,500 timers, 0 problems");
  }

  private static void checkRuns(Process process) throws Exception {
    if (process.waitFor(50, MILLISECONDS)) {
      fail("ended: " + new String(process.getErrorStream().readAllBytes(), UTF_8));
    }
  }

  @Test
  void aCopyThatFailsHalfwayDescribesTheTargetAndCanBeRepeated() throws Exception {
    fill();
    Database database =
        withTrigger("RAISE EXCEPTION 'no space left on device' USING ERRCODE = 'disk_full'");

    assertThat(copy(database)).isEqualTo(1);

    assertThat(err)
        .contains(
            "no space left on device",
            database.url() + " lacks timers: repeat the command before starting a server on it",
            "(1,000 timers were written)")
        .hasLineCount(1);
    assertThat(database.number("SELECT count(*) FROM timewheel_timer")).isEqualTo(1_000);
    checkIsUnfinished(database);
    copyAgain(database);
  }

  @Test
  void aCopyThatWasKilledCanBeRepeated() throws Exception {
    fill();
    Database database = withTrigger("PERFORM pg_sleep(600)");
    String sleeper = " FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND usename = user";
    // The password is in the environment, where only a process finds it.
    Process copy =
        programs.run(Map.of(Settings.TO_STORE_PASSWORD, database.password()), copyTo(database));
    while (database.number("SELECT count(*)" + sleeper) == 0) {
      checkRuns(copy);
    }
    copy.destroyForcibly().waitFor();
    database.execute("SELECT pg_terminate_backend(pid)" + sleeper);

    checkIsUnfinished(database);
    copyAgain(database);
  }

  @Test
  void aKilledImportLeavesNoDirectoryThatAServerAccepts() throws Exception {
    fill();
    String all = Files.readString(directory.resolve("lines"));
    Path data = directory.resolve("new");
    Process killed = programs.run(Map.of(), "store", "import", "--data", data.toString(), "-");
    killed.getOutputStream().write(all.substring(0, all.length() / 2).getBytes(UTF_8));
    killed.getOutputStream().flush();
    while (Files.notExists(directory.resolve("new.part/CURRENT"))) {
      checkRuns(killed);
    }
    killed.destroyForcibly().waitFor();

    assertThat(data).doesNotExist();
    String lines = directory.resolve("lines").toString();
    assertThat(execute("store", "import", "--data", data.toString(), lines)).as(err).isZero();
    assertThat(execute("store", "verify", "--data", data.toString())).isZero();
    assertThat(out).startsWith("1,500 timers, 0 problems");
    assertThat(directory.resolve("new.part")).doesNotExist();
  }

  @Test
  void aDatabaseWithoutTablesIsRefused() throws Exception {
    fill();
    Database database = TestDatabases.postgresql().createDatabase();
    assertThat(copy(database)).isEqualTo(1);
    assertThat(err).contains("the tables are missing", "timewheel store migrate");
  }

  @Test
  void theSourceMayBeInUseAndTheTargetMayNot() throws Exception {
    fill();
    String copy = directory.resolve("copy").toString();
    String address = serve(data());

    assertThat(execute("store", "copy", "--data", data(), "--server", address, "--to-data", copy))
        .as(err)
        .isZero();
    assertThat(out).isEqualTo("1,500 timers copied to " + copy + System.lineSeparator());
    assertThat(execute("store", "verify", "--data", copy)).as(out).isZero();

    assertThat(execute("store", "copy", "--data", copy, "--to-data", data())).isEqualTo(4);
    assertThat(err).contains(data() + " already exists");
    Path lines = Files.writeString(directory.resolve("more"), "");
    assertThat(execute("store", "import", "--data", data(), lines.toString())).isEqualTo(1);
    assertThat(err).contains(data(), "is in use");
  }

  private String serve(String data) throws IOException {
    return Programs.address(
        programs.run(Map.of(), "serve", "--port", "0", "--data", data), "127.0.0.1");
  }
}
