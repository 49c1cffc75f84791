// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.LeaseChange;
import io.timewheel.durable.QueueFiring;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.rocksdb.RocksTimerStore;
import io.timewheel.server.cli.Main;
import io.timewheel.server.settings.ServerConfig;
import io.timewheel.server.store.BackupSchedule;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/**
 * Tests the commands for data that a server has open. Only this class verifies scheduled backups.
 */
class BackupTest {
  @TempDir private Path directory;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private Path data;
  private TimewheelServer server;
  private DurableTimer scheduler;
  private RocksTimerStore timerStore;

  @BeforeEach
  void start() throws IOException {
    data = directory.resolve("data");
    server = TimewheelServer.start(ServerConfig.loopback(0));
    RocksTimerStore store = RocksTimerStore.open(data);
    timerStore = store;
    server.backups(data, store, null);
    scheduler = DurableTimer.builder(server.watch("rocksdb", store)).start();
    server.serve(scheduler);
  }

  @AfterEach
  void stop() {
    server.close();
    scheduler.close();
  }

  private String address() {
    return "http://127.0.0.1:" + server.port();
  }

  private void put(String id) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(address() + "/v1/namespaces/shop/timers/" + id))
            .header("Content-Type", "application/json")
            .PUT(
                BodyPublishers.ofString(
                    "{\"at\":\"2099-01-01T00:00:00Z\",\"target\":{\"queue\":\"q\"}}"))
            .build();
    assertThat(HttpClient.newHttpClient().send(request, BodyHandlers.discarding()).statusCode())
        .isEqualTo(201);
  }

  private int execute(String... arguments) throws IOException {
    CommandLine line = Main.commandLine(Map.of());
    line.setOut(new PrintWriter(out));
    line.setErr(new PrintWriter(err));
    return line.execute(arguments);
  }

  private int store(String command, Path... files) throws IOException {
    String[] arguments = {"store", command, "--data", data.toString(), "--server", address(), ""};
    arguments[6] = files.length == 0 ? "-ojson" : files[0].toString();
    return execute(arguments);
  }

  private boolean isTidy() throws IOException {
    try (var copies = Files.list(data.resolve("backups"))) {
      return copies.findAny().isEmpty();
    }
  }

  @Test
  void aBackupOfARunningServerContainsTheCommittedTimers() throws Exception {
    put("a");
    assertThat(store("backup", directory.resolve("copy"))).as("%s", err).isZero();
    put("b");
    assertThat(isTidy()).isTrue();
    try (DurableTimer copy =
        DurableTimer.builder(RocksTimerStore.open(directory.resolve("copy"))).start()) {
      assertThat(copy.timer("shop", "a").get()).isPresent();
      assertThat(copy.timer("shop", "b").get()).isEmpty();
    }
    assertThat(scheduler.timer("shop", "b").get()).isPresent();
  }

  @Test
  void aRunningServerIsCheckedAndExported() throws Exception {
    put("a");
    assertThat(store("verify")).as("%s", err).isZero();
    assertThat(out.toString()).contains("\"timers\":1,\"problems\":0");
    assertThat(store("export", directory.resolve("lines"))).as("%s", err).isZero();
    assertThat(directory.resolve("lines")).content().contains("\"a\"").contains("{\"timers\":1}");
    assertThat(isTidy()).isTrue();
  }

  private String list() throws Exception {
    HttpRequest request = HttpRequest.newBuilder(URI.create(address() + "/v1/backups")).build();
    return HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).body();
  }

  @Test
  void aScheduleMakesBackupsAndKeepsTheLatest() throws Exception {
    put("a");
    assertThat(backup("mine").join()).isEqualTo(201);
    AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-01-01T00:00:00Z"));
    BackupSchedule schedule = schedule(now::get);
    for (int hour = 0; hour <= 36; hour++) {
      schedule.run();
      now.set(now.get().plus(Duration.ofHours(1)));
    }
    schedule(now::get).run(); // as after a restart: no backup is due yet

    assertThat(data.resolve("backups").toFile().list())
        .containsExactlyInAnyOrder(
            "mine",
            "auto-2026-01-02T00-00-00Z",
            "auto-2026-01-02T06-00-00Z",
            "auto-2026-01-02T12-00-00Z");
    assertThat(list())
        .contains("\"name\":\"mine\"")
        .contains("\"name\":\"auto-2026-01-02T12-00-00Z\"")
        .contains("\"automatic\":true")
        .contains("\"automatic\":false");
  }

  @Test
  void aScheduleIsRefusedForADatabase() throws Exception {
    String[] store = {"--store", "jdbc:postgresql://db.example/timers"};
    assertThat(execute("serve", "--backup-every", "PT6H", store[0], store[1])).isEqualTo(2);
    assertThat(execute("serve", "--backup-every", "PT1S")).isEqualTo(2);
    assertThat(err.toString()).contains("PT1S is too short (minimum: PT1M)");
  }

  private BackupSchedule schedule(InstantSource clock) {
    return new BackupSchedule(
        data,
        new BackupSchedule.Plan(Duration.ofHours(6), 3),
        name -> timerStore.backup(data.resolve("backups").resolve(name)),
        clock,
        new LongAdder());
  }

  @Test
  void aFailedScheduledBackupIsRepeatedInAMinute() {
    AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-01-01T00:00:00Z"));
    AtomicInteger tries = new AtomicInteger();
    LongAdder failures = new LongAdder();
    BackupSchedule schedule =
        new BackupSchedule(
            data,
            new BackupSchedule.Plan(Duration.ofHours(6), 3),
            name -> {
              tries.incrementAndGet();
              if (tries.get() == 1) {
                throw new OutOfMemoryError("of a test");
              }
              throw new IOException("the disk is full");
            },
            now::get,
            failures);
    schedule.run();
    schedule.run();
    assertThat(tries).hasValue(1);
    now.set(now.get().plusSeconds(60));
    schedule.run();
    assertThat(tries).hasValue(2);
    assertThat(failures.sum()).isEqualTo(2);
    now.set(now.get().minus(Duration.ofDays(1))); // the clock was ahead
    schedule.run();
    assertThat(tries).hasValue(3);
  }

  @Test
  void aClockThatWasAheadStopsNoBackup() throws Exception {
    AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2027-01-01T00:00:00Z"));
    BackupSchedule schedule = schedule(now::get);
    schedule.run();
    now.set(Instant.parse("2026-01-01T00:00:00Z"));
    for (int hour = 0; hour <= 18; hour++) {
      schedule.run();
      now.set(now.get().plus(Duration.ofHours(1)));
    }
    assertThat(data.resolve("backups").toFile().list())
        .containsExactlyInAnyOrder(
            "auto-2026-01-01T06-00-00Z", "auto-2026-01-01T12-00-00Z", "auto-2026-01-01T18-00-00Z");
  }

  @Test
  void aRestoredBackupRepeatsLaterFiringsAndLosesNothing() throws Exception {
    put("later");
    scheduler.schedule(TimerSpec.of("shop", "due").after(Duration.ZERO).queue("q"));
    assertThat(backup("one").join()).isEqualTo(201);
    QueueFiring before = claim(scheduler);
    scheduler
        .async()
        .changeLease(LeaseChange.ack(before.firing().fireId(), before.leaseToken()))
        .toCompletableFuture()
        .join();
    server.close();
    scheduler.close();

    Path restored = directory.resolve("restored");
    try (var files = Files.walk(data.resolve("backups").resolve("one"))) {
      for (Path each : files.toList()) {
        Files.copy(
            each,
            restored.resolve(data.resolve("backups").resolve("one").relativize(each).toString()));
      }
    }
    try (RocksTimerStore checked = RocksTimerStore.open(restored)) {
      assertThat(checked.verify().problems()).isZero();
    }
    try (DurableTimer again = DurableTimer.builder(RocksTimerStore.open(restored)).start()) {
      assertThat(again.timer("shop", "later").get()).isPresent();
      assertThat(claim(again).firing().fireId()).isEqualTo(before.firing().fireId());
    }
  }

  private static QueueFiring claim(DurableTimer from) {
    return from.async()
        .queue("shop", "q")
        .claim(1, Duration.ofMinutes(1), Duration.ofMinutes(1))
        .toCompletableFuture()
        .join()
        .get(0);
  }

  private CompletableFuture<Integer> backup(String name) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(address() + "/v1/backups"))
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString("{\"name\":\"" + name + "\"}"))
            .build();
    return HttpClient.newHttpClient()
        .sendAsync(request, BodyHandlers.discarding())
        .thenApply(HttpResponse::statusCode);
  }

  @Test
  void theSecondBackupWithANameIsRefused() throws Exception {
    put("a");
    var statuses = Stream.of(backup("one"), backup("one")).map(CompletableFuture::join).toList();
    assertThat(statuses).containsExactlyInAnyOrder(201, 409);
    assertThat(data.resolve("backups").toFile().list()).containsExactly("one");
    try (RocksTimerStore copy = RocksTimerStore.open(data.resolve("backups").resolve("one"))) {
      assertThat(copy.verify().timers()).isEqualTo(1);
    }
  }

  /** The schedule deletes its oldest backups by their names. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "one.tmp",
        "one.lock",
        "copy-01234567-89ab-cdef-0123-456789abcdef",
        "../one",
        "auto-2026-01-01T00-00-00Z",
        "auto-one"
      })
  void aBackupCannotHaveTheNameOfATemporaryFileOrAScheduledBackup(String name) {
    assertThat(backup(name).join()).isEqualTo(422);
  }

  @Test
  void aServerDeletesTheFilesOfAKilledOne() throws IOException {
    String unfinished = "copy-01234567-89ab-cdef-0123-456789abcdef.tmp";
    Path other = directory.resolve("other");
    try (RocksTimerStore store = RocksTimerStore.open(other)) {
      Files.createDirectories(other.resolve("backups").resolve(unfinished));
      server.backups(other, store, null);
    }
    assertThat(other.resolve("backups")).isEmptyDirectory();
  }

  @Test
  void nothingIsOverwritten() throws Exception {
    Path target = Files.createDirectory(directory.resolve("copy"));
    assertThat(store("backup", target)).isEqualTo(1);
    assertThat(err.toString()).contains("already exists");
    assertThat(target).isEmptyDirectory();
    assertThat(isTidy()).isTrue();
  }

  @Test
  void anImportNeedsTheServerToBeStopped() throws Exception {
    Path lines = directory.resolve("lines");
    assertThat(store("export", lines)).isZero();
    assertThat(store("import", lines)).isEqualTo(1);
    assertThat(err.toString()).contains("is in use");
  }

  @Test
  void theServerOfOtherDataMakesNoCopy() throws Exception {
    Path other = directory.resolve("other");
    try (RocksTimerStore used = RocksTimerStore.open(other)) {
      assertThat(used.counts()).isEmpty();
      assertThat(
              execute("store", "backup", "--data", other.toString(), "--server", address(), "copy"))
          .isEqualTo(1);
    }
    assertThat(err.toString()).contains("is in use").contains("the data of another server");
    assertThat(data.resolve("backups")).doesNotExist();
  }

  @Test
  void withoutItsServerDataInUseCannotBeReached() throws Exception {
    assertThat(
            execute("store", "verify", "--data", data.toString(), "--server", "http://127.0.0.1:1"))
        .isEqualTo(5);
    assertThat(err.toString()).contains("is in use; requesting a copy from its server (--server)");
  }
}
