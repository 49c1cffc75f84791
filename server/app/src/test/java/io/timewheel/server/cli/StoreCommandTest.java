// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.rocksdb.RocksTimerStore;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.maintenance.IncompleteRepairException;
import io.timewheel.durable.spi.maintenance.VerifyReport;
import io.timewheel.server.settings.CommandException;
import io.timewheel.server.settings.ExitCode;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** Tests the effects of the store commands on data and files. */
@SuppressWarnings("StringSplitter") // plain words
class StoreCommandTest {
  private static final String NOTHING =
      """
      {"timewheel":"timers","format":1,"lastVersion":0,"paused":[]}
      {"timers":0}
      """;

  @TempDir private Path directory;
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int store(String command, Path data, Path file) {
    return execute("store " + command + " --data " + data + " " + file);
  }

  private int execute(String command) {
    return line().execute(command.split(" "));
  }

  private CommandLine line() {
    CommandLine line = Timewheel.commandLine();
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    return line;
  }

  private Path store() throws IOException {
    Path data = directory.resolve("data");
    Path lines = Files.writeString(directory.resolve("lines"), NOTHING);
    assertThat(store("import", data, lines)).as("%s", err).isZero();
    out.getBuffer().setLength(0);
    return data;
  }

  @Test
  void checksCopiesAndConvertsAStore() throws IOException {
    Path data = directory.resolve("data");
    Path lines = directory.resolve("timers.jsonl");

    assertThat(execute("store verify --data " + data)).isEqualTo(ExitCode.FAILED);
    assertThat(data).doesNotExist();
    Files.writeString(lines, NOTHING);
    assertThat(execute("store import --data " + data + " " + lines)).isZero();
    assertThat(execute("store verify --data " + data)).isZero();
    out.getBuffer().setLength(0);
    assertThat(execute("store verify -o json --data " + data)).isZero();
    assertThat(ApiClient.JSON.readTree(out.toString()))
        .isEqualTo(ApiClient.JSON.readTree("{\"timers\":0,\"problems\":0,\"texts\":[]}"));
    assertThat(execute("store backup --data " + data + " " + directory.resolve("copy"))).isZero();
    assertThat(
            execute(
                "store export --data "
                    + directory.resolve("copy")
                    + " "
                    + directory.resolve("out")))
        .isZero();
    assertThat(directory.resolve("out")).hasSameTextualContentAs(lines);
    try (Stream<Path> files = Files.list(directory)) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .containsExactlyInAnyOrder("copy", "data", "out", "timers.jsonl");
    }
  }

  private static Map<String, FileTime> files(Path directory) throws IOException {
    Map<String, FileTime> files = new TreeMap<>();
    try (Stream<Path> found = Files.walk(directory)) {
      for (Path file : (Iterable<Path>) found::iterator) {
        files.put(file + " " + Files.size(file), Files.getLastModifiedTime(file));
      }
    }
    return files;
  }

  @Test
  void readsAStoreThatCannotBeWritten() throws IOException {
    Path data = directory.resolve("data");
    Path copy = directory.resolve("copy");
    try (DurableTimer scheduler = DurableTimer.builder(RocksTimerStore.open(data)).start()) {
      scheduler.schedule(TimerSpec.of("shop", "a").after(Duration.ofDays(1)).queue("q"));
    }
    Map<String, FileTime> before = files(data);
    assertThat(before.keySet()).anyMatch(file -> file.contains(".sst"));

    try (Data read = Data.readOnly(data)) {
      assertThat(read.open().verify().timers()).isEqualTo(1);
      read.copyTo(copy);
    }

    assertThat(files(data)).isEqualTo(before);
    try (Stream<Path> files = Files.list(copy)) {
      assertThat(files).noneMatch(Files::isSymbolicLink);
    }
    assertThat(execute("store verify --data " + copy)).as("%s", err).isZero();
    assertThat(out.toString()).isEqualTo("1 timers, 0 problems" + System.lineSeparator());
  }

  @ParameterizedTest
  @CsvSource({
    "'\"id\":\"a\"', '\"id\":\"..\"', id: not a name",
    "'\"namespace\":\"shop\"', '\"namespace\":\".\"', namespace: not a name",
    "'\"dueAt\":[0-9]+', '\"dueAt\":253402300800000', dueAt: 253402300800000 (expected: an instant",
    "'\"fireAt\":[0-9]+', '\"fireAt\":-1', fireAt: -1 (expected: an instant",
    "'\"createdAt\":[0-9]+', '\"createdAt\":-1', createdAt: -1 (expected: an instant",
    "until 9000, until +10000, until: +10000-01-01T00:00:00Z (expected: an instant"
  })
  void anImportRefusesTimersThatHttpRefuses(String part, String wrong, String error)
      throws IOException {
    Path data = directory.resolve("data");
    Path lines = directory.resolve("lines");
    try (DurableTimer scheduler = DurableTimer.builder(RocksTimerStore.open(data)).start()) {
      Instant until = Instant.parse("9000-01-01T00:00:00Z");
      scheduler.schedule(
          TimerSpec.of("shop", "a").every(Duration.ofDays(1)).until(until).queue("q"));
    }
    assertThat(store("export", data, lines)).as("%s", err).isZero();
    Path target = directory.resolve("target");
    assertThat(store("import", target, lines)).as("%s", err).isZero();
    Files.writeString(lines, Files.readString(lines).replaceFirst(part, wrong));

    assertThat(store("import", directory.resolve("other"), lines)).isEqualTo(ExitCode.FAILED);

    assertThat(err.toString()).contains(error);
  }

  private static VerifyReport fail() {
    throw new StoreException(StoreException.Kind.UNAVAILABLE, "no connection", null);
  }

  @Test
  void aRepairWhoseVerifyFailsPrintsTheRepairedProblems() {
    CommandLine line = line();
    line.parseArgs("store", "repair");
    StoreCommand command = line.getSubcommands().get("store").getCommand();
    VerifyReport fixed = new VerifyReport(7, 120, List.of("a: one", "b: two"));

    assertThatThrownBy(() -> command.repair(() -> fixed, StoreCommandTest::fail))
        .isInstanceOf(CommandException.class)
        .hasMessage("the verify after the repair failed: no connection");
    assertThat(out.toString().lines())
        .containsExactly("repaired: a: one", "repaired: b: two", "120 problems repaired");

    out.getBuffer().setLength(0);
    line.parseArgs("store", "repair", "-o", "json");
    assertThatThrownBy(() -> command.repair(() -> fixed, StoreCommandTest::fail))
        .isInstanceOf(CommandException.class);
    assertThat(ApiClient.JSON.readTree(out.toString()))
        .isEqualTo(
            ApiClient.JSON.readTree("{\"repaired\":120,\"repairs\":[\"a: one\",\"b: two\"]}"));
  }

  @Test
  void aRepairThatIsIncompletePrintsTheRepairedProblemsAndTheRemedy() {
    CommandLine line = line();
    line.parseArgs("store", "repair");
    StoreCommand command = line.getSubcommands().get("store").getCommand();
    Supplier<VerifyReport> repair =
        () -> {
          throw new IncompleteRepairException(
              StoreException.Kind.TRANSIENT,
              "run it again",
              new VerifyReport(0, 1, List.of("a: one")),
              List.of("b: two"),
              null);
        };

    assertThatThrownBy(
            () -> command.repair(repair, () -> new VerifyReport(7, 1, List.of("b: two"))))
        .isInstanceOf(CommandException.class)
        .hasMessage("run it again");
    assertThat(out.toString().lines())
        .containsExactly(
            "repaired: a: one", "not repaired: b: two", "7 timers, 1 problems repaired, 1 left");
    assertThatThrownBy(() -> command.repair(repair, StoreCommandTest::fail))
        .hasMessage("run it again; the verify after the repair failed: no connection");
  }

  @Test
  void keepsTheReadableTimersOfDamagedData() throws IOException {
    Path data = directory.resolve("data");
    Path lines = directory.resolve("timers.jsonl");
    Path export = directory.resolve("out");
    Files.writeString(lines, export(500));
    assertThat(execute("store import --data " + data + " " + lines)).isZero();
    damageLargestTable(data);

    assertThat(execute("store export --data " + data + " " + export)).isEqualTo(ExitCode.FAILED);

    assertThat(err.toString()).contains("the timers after shop/t").contains("incomplete: ");
    assertThat(Files.readAllLines(export)).hasSizeBetween(450, 501); // of 502
    assertThat(execute("store import --data " + directory.resolve("other") + " " + export))
        .isZero();
  }

  @Test
  void aCopyOfDamagedDataReportsTheCopiedTimers() throws IOException {
    Path data = directory.resolve("data");
    Path copy = directory.resolve("copy");
    Path lines = Files.writeString(directory.resolve("lines"), export(500));
    assertThat(store("import", data, lines)).isZero();
    damageLargestTable(data);
    out.getBuffer().setLength(0);

    assertThat(execute("store copy --data " + data + " --to-data " + copy))
        .isEqualTo(ExitCode.FAILED);

    assertThat(out.toString()).endsWith(" timers copied to " + copy + System.lineSeparator());
    String timers = out.toString().replaceAll(" .*\\s*", "");
    out.getBuffer().setLength(0);
    assertThat(execute("store verify --data " + copy)).as("%s", out).isZero();
    assertThat(out.toString()).startsWith(timers + " timers, 0 problems");
  }

  @Test
  void aCopyReplacesThePartOfAKilledOne() throws IOException {
    Path data = store();
    Path part = directory.resolve("copy.part");
    Path lines = Files.writeString(directory.resolve("lines"), export(3));
    assertThat(store("import", part, lines)).as("%s", err).isZero();
    out.getBuffer().setLength(0);

    assertThat(execute("store copy --data " + data + " --to-data " + directory.resolve("copy")))
        .as("%s", err)
        .isZero();

    assertThat(out.toString()).startsWith("0 timers copied");
    assertThat(part).doesNotExist();
    out.getBuffer().setLength(0);
    assertThat(execute("store verify --data " + directory.resolve("copy"))).isZero();
    assertThat(out.toString()).startsWith("0 timers");
  }

  @Test
  void aCopyReplacesNoOtherFiles() throws IOException {
    Path data = store();
    Path part = Files.createDirectory(directory.resolve("copy.part"));
    Path file = Files.writeString(part.resolve("file"), "precious");
    String target = " --to-data " + directory.resolve("copy");

    assertThat(execute("store copy --data " + data + target)).isEqualTo(ExitCode.FAILED);
    assertThat(err.toString()).contains(part + ": contains no store");
    assertThat(file).content().isEqualTo("precious");
    Files.delete(file);
    Files.delete(part);
    Files.move(data, part);
    assertThat(execute("store copy --data " + part + target)).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).contains(part + " is the source, and would be replaced");
    assertThat(execute("store verify --data " + part)).isZero();
    Path link = Files.createSymbolicLink(directory.resolve("link"), part);
    assertThat(execute("store copy --data " + link + target)).isEqualTo(ExitCode.USAGE);
    assertThat(execute("store verify --data " + part)).isZero();
  }

  @Test
  void aFailedImportDescribesAnExistingStoreAndLeavesNoNewOne() throws IOException {
    Path data = store();
    Path lines =
        Files.writeString(directory.resolve("cut"), export(3).replace("{\"timers\":3}", ""));

    assertThat(store("import", data, lines)).isEqualTo(ExitCode.FAILED);
    assertThat(err.toString())
        .contains(
            "the export ends here",
            data
                + " lacks timers: repeat the command before starting a server on it (0 timers were"
                + " written)");
    assertThat(store("import", directory.resolve("new"), lines)).isEqualTo(ExitCode.FAILED);
    assertThat(directory.resolve("new")).doesNotExist();
    assertThat(directory.resolve("new.part")).doesNotExist();
  }

  @Test
  void anImportRestrictsItsDirectory() throws IOException {
    Path data = Files.createDirectory(directory.resolve("data"));
    Files.setPosixFilePermissions(data, PosixFilePermissions.fromString("rwxr-xr-x"));
    Path lines = Files.writeString(directory.resolve("lines"), export(3));

    assertThat(store("import", data, lines)).as("%s", err).isZero();

    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(data)))
        .isEqualTo("rwx------");
  }

  private static String export(int timers) {
    StringBuilder text = new StringBuilder();
    text.append("{\"timewheel\":\"timers\",\"format\":1,\"lastVersion\":9999,\"paused\":[]}\n");
    Random random = new Random(1);
    byte[] payload = new byte[300]; // random, so that it cannot be compressed
    for (int i = 1; i <= timers; i++) {
      random.nextBytes(payload);
      text.append(
          """
          {"namespace":"shop","id":"t%05d","version":%d,"revision":1,"state":"SCHEDULED",\
          "dueAt":4000000000000,"fireAt":4000000000000,"handler":"orders","payload":"%s",\
          "retry":{"maxAttempts":5,"backoff":"PT1S","maxBackoff":"PT1M"},"missed":"FIRE_ONCE",\
          "graceMillis":0,"createdAt":1,"changedAt":1}
          """
              .formatted(i, i, Base64.getEncoder().encodeToString(payload)));
    }
    return text.append("{\"timers\":").append(timers).append("}\n").toString();
  }

  private static void damageLargestTable(Path data) throws IOException {
    try (Stream<Path> files = Files.list(data)) {
      Path table =
          files
              .filter(file -> file.toString().endsWith(".sst"))
              .max(Comparator.comparingLong(file -> file.toFile().length()))
              .orElseThrow();
      byte[] bytes = Files.readAllBytes(table);
      bytes[bytes.length / 2] ^= 4;
      Files.write(table, bytes);
    }
  }

  @Test
  void anExportReplacesNoFile() throws IOException {
    Path data = store();
    Path file = Files.writeString(directory.resolve("file"), "precious");
    Path link = Files.createSymbolicLink(directory.resolve("link"), file);
    Path loose = Files.createSymbolicLink(directory.resolve("loose"), directory.resolve("none"));
    Path inner = Files.createDirectory(directory.resolve("inner"));

    for (Path target : new Path[] {file, link, loose, inner}) {
      assertThat(store("export", data, target)).isEqualTo(ExitCode.FAILED);
      assertThat(err.toString()).contains(target + " already exists");
    }

    assertThat(file).content().isEqualTo("precious");
    assertThat(link).isSymbolicLink();
    assertThat(loose).isSymbolicLink();
    assertThat(directory.resolve("none")).doesNotExist();
    assertThat(inner).isEmptyDirectory();
  }

  /** The same as for a device, which a failed test would replace. */
  @Test
  void anExportGoesIntoAPipe() throws Exception {
    Path data = store();
    Path pipe = directory.resolve("pipe");
    Path link = Files.createSymbolicLink(directory.resolve("link"), pipe);
    Path read = directory.resolve("read");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    Process reader =
        new ProcessBuilder("cat", pipe.toString()).redirectOutput(read.toFile()).start();
    try {
      assertThat(store("export", data, link)).as("%s", err).isZero();

      assertThat(link).isSymbolicLink();
      assertThat(Files.isRegularFile(pipe, LinkOption.NOFOLLOW_LINKS)).isFalse();
      assertThat(reader.waitFor()).isZero();
      assertThat(read).content().isEqualTo(NOTHING);
      assertThat(out.toString()).isEmpty();
    } finally {
      reader.destroyForcibly();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"none: there is no such file", "inner is a directory"})
  void anImportOfNothingMakesNoStore(String why) throws IOException {
    Files.createDirectory(directory.resolve("inner"));
    Path file = directory.resolve(why.split("[: ]", 2)[0]);

    assertThat(store("import", directory.resolve("data"), file)).isEqualTo(ExitCode.FAILED);

    assertThat(err.toString()).isEqualToIgnoringNewLines("timewheel: " + directory + "/" + why);
    assertThat(directory.resolve("data")).doesNotExist();
  }

  @ParameterizedTest
  @ValueSource(strings = {"export", "backup"})
  void anEmptyDirectoryIsNoStore(String command) throws IOException {
    Path empty = Files.createDirectory(directory.resolve("empty"));

    assertThat(store(command, empty, directory.resolve("copy"))).isEqualTo(ExitCode.FAILED);

    assertThat(err.toString()).contains(empty + ": contains no store (--data)");
    assertThat(empty).isEmptyDirectory();
    assertThat(directory.resolve("copy")).doesNotExist();
  }
}
