// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.file;

import static io.timewheel.durable.rocksdb.Fixture.NOW;
import static io.timewheel.durable.rocksdb.Fixture.schedule;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.timewheel.durable.rocksdb.Fixture;
import io.timewheel.durable.rocksdb.RocksFigures;
import io.timewheel.durable.rocksdb.RocksTimerStore;
import io.timewheel.durable.rocksdb.SyncMode;
import io.timewheel.durable.rocksdb.internal.format.Keys;
import io.timewheel.durable.rocksdb.internal.format.Meta;
import io.timewheel.durable.spi.StoreException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/**
 * Tests which directories can be opened, why others are refused, and the exceptions of a closed
 * store.
 */
class OpeningTest {
  @TempDir Path directory;

  private static void refuses(Path path, String why) {
    assertThatThrownBy(() -> RocksTimerStore.open(path))
        .isInstanceOfSatisfying(
            StoreException.class,
            e -> assertThat(e.kind()).isEqualTo(StoreException.Kind.UNAVAILABLE))
        .hasMessageContaining(path.toString())
        .hasMessageContaining(why);
  }

  private void opens(Path path) {
    try (RocksTimerStore store = RocksTimerStore.open(path)) {
      new Fixture(store).commit(schedule("a", NOW));
      assertThat(store.verify().timers()).isEqualTo(1);
    }
  }

  @Test
  void createsADirectoryWithItsParents() {
    opens(directory.resolve("a/b/c"));
  }

  @Test
  void opensAnEmptyDisk() throws IOException {
    Files.createDirectory(directory.resolve("lost+found"));
    opens(directory);
  }

  @Test
  void opensAnIncompleteStoreOfAKilledProcess() throws Exception {
    Files.write(directory.resolve("LOG"), new byte[] {1});
    Files.write(directory.resolve("LOCK"), new byte[0]);
    opens(directory.resolve("."));
    // A database without any of the families, and one without a format.
    Path second = directory.resolve("second");
    RocksDB.loadLibrary();
    try (Options options = new Options().setCreateIfMissing(true)) {
      RocksDB.open(options, second.toString()).close();
    }
    opens(second);
    Path third = directory.resolve("third");
    Database.open(third, Settings.DEFAULT).close();
    opens(third);
  }

  @Test
  void refusesASecondStoreInTheSameProcess() {
    try (RocksTimerStore first = RocksTimerStore.open(directory)) {
      refuses(directory, "is in use by another store");
      assertThat(first.counts()).isEmpty();
    }
    opens(directory);
  }

  @Test
  void refusesASecondProcess() throws Exception {
    try (RocksTimerStore first = RocksTimerStore.open(directory)) {
      assertThat(openedByAnother(List.of(), directory))
          .contains("UNAVAILABLE")
          .contains("is in use by another store");
      Files.delete(directory.resolve("LOCK"));
      assertThat(openedByAnother(List.of(), directory)).contains("is in use by another store");
      assertThat(first.counts()).isEmpty();
    }
    assertThat(openedByAnother(List.of(), directory)).contains("opened");
  }

  @Test
  void refusesAReadOnlyDirectory() throws Exception {
    Path path = directory.resolve("store");
    opens(path);
    // Root may write everywhere, unless it drops that capability.
    boolean root = Files.isWritable(Path.of("/"));
    List<String> without =
        root ? List.of("setpriv", "--bounding-set=-dac_override,-dac_read_search") : List.of();
    assumeTrue(
        Files.getFileStore(path).supportsFileAttributeView("posix")
            && (!root || Files.isExecutable(Path.of("/usr/bin/setpriv"))),
        "SKIPPED: no tool on this machine can drop the capability to write");
    Set<PosixFilePermission> before = Files.getPosixFilePermissions(path);
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("r-xr-xr-x"));
    try {
      assertThat(openedByAnother(without, path))
          .contains("UNAVAILABLE " + path + ": cannot be written");
    } finally {
      Files.setPosixFilePermissions(path, before);
    }
    opens(path);
  }

  private static String openedByAnother(List<String> prefix, Path path) throws Exception {
    List<String> command = new ArrayList<>(prefix);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(SecondProcess.class.getName(), path.toString()));
    Process second = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(second.getInputStream().readAllBytes(), UTF_8);
    assertThat(second.waitFor(2, TimeUnit.MINUTES)).isTrue();
    return said;
  }

  /** Opens a directory in another process, and prints the result. */
  static final class SecondProcess {
    private SecondProcess() {}

    public static void main(String[] args) {
      try {
        RocksTimerStore.open(Path.of(args[0])).close();
        System.out.println("opened");
      } catch (StoreException e) {
        System.out.println(e.kind() + " " + e.getMessage());
      }
    }
  }

  @Test
  void refusesAFile() throws IOException {
    Path file = Files.write(directory.resolve("file"), new byte[] {1});
    refuses(file, "is not a directory");
    refuses(file.resolve("below"), "cannot be created: " + file);
  }

  @Test
  void reportsWhyADirectoryCannotBeCreated() {
    assertThat(Failures.reason(new AccessDeniedException("/data/timers")))
        .isEqualTo("/data/timers: permission denied");
    assertThat(Failures.reason(new FileSystemException("/data", null, "Read-only file system")))
        .isEqualTo("/data: Read-only file system");
  }

  @Test
  void reportsTheAbsolutePathOfTheDirectory() {
    Path empty = Path.of("");
    assertThatThrownBy(() -> RocksTimerStore.open(empty))
        .hasMessageStartingWith(empty.toAbsolutePath() + ": is not a store, and not empty");
  }

  @Test
  void refusesADirectoryWithOtherThingsInIt() throws IOException {
    Files.write(directory.resolve("thesis.txt"), new byte[] {1});
    refuses(directory, "is not a store, and not empty: there is thesis.txt in it");
    try (var files = Files.list(directory)) {
      assertThat(files).hasSize(1);
    }
  }

  @Test
  void refusesAnotherDatabase() throws Exception {
    RocksDB.loadLibrary();
    try (Options options = new Options().setCreateIfMissing(true);
        RocksDB db = RocksDB.open(options, directory.toString())) {
      db.put(new byte[] {'k'}, new byte[] {'v'});
    }
    refuses(directory, "is a RocksDB database, but not a store of timers");
  }

  @Test
  void refusesANewerFormatByName() throws Exception {
    opens(directory);
    try (Database database = Database.open(directory, Settings.DEFAULT);
        Batch batch = new Batch(database)) {
      batch.put(Family.META, Meta.format(), Meta.number(5));
      batch.write(true);
    }
    refuses(directory, "is a store of format 5; this release reads format 4");
  }

  @Test
  void refusesANewerFormatWithMoreFamiliesByName() throws Exception {
    RocksDB.loadLibrary();
    try (Options options = new Options().setCreateIfMissing(true);
        RocksDB db = RocksDB.open(options, directory.toString());
        ColumnFamilyHandle family =
            db.createColumnFamily(new ColumnFamilyDescriptor("calendar".getBytes(UTF_8)))) {
      db.put(Meta.format(), Meta.number(7));
      db.put(family, new byte[] {'k'}, new byte[] {'v'});
    }
    refuses(directory, "is a store of format 7; this release reads format 4");
  }

  @Test
  void refusesATornManifest() throws IOException {
    opens(directory);
    try (var files = Files.list(directory)) {
      for (Path file :
          files.filter(f -> f.getFileName().toString().startsWith("MANIFEST")).toList()) {
        Files.write(file, new byte[] {1, 2, 3});
      }
    }
    refuses(directory, "cannot be opened");
  }

  // One unreadable record

  private static byte[] timer(String id) {
    return Keys.timer(Fixture.key(id));
  }

  @Test
  void skipsOnlyAnUnreadableRecord() throws RocksDBException {
    try (RocksTimerStore store = RocksTimerStore.open(directory)) {
      Fixture fixture = new Fixture(store);
      for (String id : List.of("a", "b", "c")) {
        fixture.commit(schedule(id, NOW));
      }
      fixture.commit(new io.timewheel.durable.spi.record.Change.Cancel(Fixture.key("c"), 0, NOW));
    }
    try (Database database = Database.open(directory, Settings.DEFAULT);
        Batch batch = new Batch(database)) {
      batch.put(Family.TIMERS, timer("b"), new byte[] {1, 77, 0});
      batch.put(Family.TIMERS, timer("c"), new byte[0]);
      batch.put(Family.DUE, Keys.due(0, NOW - 1, timer("a")), new byte[0]);
      batch.write(true);
    }
    try (RocksTimerStore store = RocksTimerStore.open(directory)) {
      Fixture fixture = new Fixture(store);
      assertThat(store.due(0, Long.MAX_VALUE, null, 10)).hasSize(2);
      assertThat(store.histogram(null, new long[] {NOW - 10, NOW + 10})).containsExactly(2);
      assertThat(fixture.all()).hasSize(1);
      assertThat(store.purge(Long.MAX_VALUE, 0, 10)).isZero();
      assertThatThrownBy(
              () -> store.commit(List.of(schedule("a", NOW + 1), schedule("b", NOW + 1))))
          .isInstanceOfSatisfying(
              StoreException.class,
              e -> assertThat(e.kind()).isEqualTo(StoreException.Kind.REJECTED))
          .hasMessageContaining("shop/b");
      assertThat(fixture.read("a").dueAt()).isEqualTo(NOW);
      assertThat(fixture.commit(schedule("a", NOW + 1)).version()).isPositive();
      assertThatThrownBy(() -> fixture.read("b")).hasMessageContaining("shop/b");
    }
  }

  // Closing

  @Test
  void leavesNoLogAfterAClose() throws IOException {
    try (RocksTimerStore store = RocksTimerStore.open(directory)) {
      new Fixture(store).fill();
      assertThat(store.figures().logBytes()).isPositive();
    }
    try (var files = Files.list(directory)) {
      for (Path log : files.filter(file -> file.toString().endsWith(".log")).toList()) {
        assertThat(log).isEmptyFile();
      }
    }
    try (RocksTimerStore store = RocksTimerStore.open(directory)) {
      assertThat(store.verify().timers()).isEqualTo(13);
    }
  }

  @Test
  void throwsAfterTheClose() {
    RocksTimerStore store = RocksTimerStore.open(directory);
    Fixture fixture = new Fixture(store);
    store.close();
    store.close();
    List<Runnable> calls =
        List.of(
            () -> fixture.commit(schedule("a", NOW)),
            () -> store.due(0, NOW, null, 1),
            () -> store.get(Fixture.key("a")),
            fixture::all,
            () -> store.histogram(null, new long[] {0, 1}),
            store::counts,
            store::paused,
            () -> store.pause("x"),
            () -> store.purge(0, 0, 1),
            store::verify,
            store::figures,
            () -> store.backup(directory.resolve("backup")),
            () -> store.exportTo(java.io.OutputStream.nullOutputStream()),
            () -> store.start(fixture));
    for (Runnable call : calls) {
      assertThatThrownBy(call::run)
          .isInstanceOfSatisfying(
              StoreException.class,
              e -> assertThat(e.kind()).isEqualTo(StoreException.Kind.UNAVAILABLE))
          .hasMessageContaining("the store is closed");
    }
  }

  @Test
  void closesWhileThreadsUseIt() throws Exception {
    for (int round = 0; round < 5; round++) {
      RocksTimerStore store = RocksTimerStore.open(directory.resolve("r" + round));
      Fixture fixture = new Fixture(store);
      CountDownLatch begun = new CountDownLatch(3);
      AtomicReference<Throwable> unexpected = new AtomicReference<>();
      List<Thread> threads =
          List.of(
              user(begun, unexpected, () -> fixture.commit(schedule("a", NOW + 1))),
              user(begun, unexpected, () -> store.due(0, Long.MAX_VALUE, null, 10)),
              user(begun, unexpected, () -> Fixture.all(store)));
      threads.forEach(Thread::start);
      assertThat(begun.await(1, TimeUnit.MINUTES)).isTrue();
      store.close();
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(unexpected.get()).isNull();
    }
  }

  private static Thread user(
      CountDownLatch begun, AtomicReference<Throwable> unexpected, Runnable use) {
    return new Thread(
        () -> {
          try {
            use.run();
            begun.countDown();
            while (true) {
              use.run();
            }
          } catch (StoreException e) {
            if (!e.getMessage().contains("the store is closed")) {
              unexpected.set(e);
            }
          } catch (Throwable e) {
            unexpected.set(e);
          }
        });
  }

  // Settings, backup, figures

  @Test
  void keepsTimersInEveryMode() {
    List<SyncMode> modes =
        List.of(SyncMode.sync(), SyncMode.interval(Duration.ofMillis(2)), SyncMode.os());
    for (SyncMode mode : modes) {
      Path path = directory.resolve(mode.toString().replace(' ', '-'));
      try (RocksTimerStore store = RocksTimerStore.builder(path).sync(mode).open()) {
        new Fixture(store).fill();
      }
      try (RocksTimerStore store = RocksTimerStore.open(path)) {
        assertThat(store.verify().timers()).isEqualTo(13);
        assertThat(store.verify().texts()).isEmpty();
      }
    }
  }

  @Test
  void refusesSettingsThatMakeNoSense() {
    assertThatThrownBy(() -> SyncMode.interval(Duration.ZERO)).hasMessageContaining("PT0S");
    assertThatThrownBy(() -> SyncMode.interval(Duration.ofDays(1))).hasMessageContaining("PT24H");
    assertThatThrownBy(() -> RocksTimerStore.builder(directory).blockCache(5))
        .hasMessageContaining("blockCache: 5 (expected: at least 1 MiB)");
    assertThatThrownBy(() -> RocksTimerStore.open(null)).hasMessage("directory");
  }

  @Test
  void backsUpAStoreInUse() {
    Path backup = directory.resolve("backups/today");
    try (RocksTimerStore store = RocksTimerStore.open(directory.resolve("store"))) {
      Fixture fixture = new Fixture(store);
      fixture.fill();
      var before = fixture.all();
      store.backup(backup);
      fixture.commit(schedule("after", NOW));
      assertThatThrownBy(() -> store.backup(backup)).hasMessageContaining("which already exists");
      try (RocksTimerStore copy = RocksTimerStore.open(backup)) {
        assertThat(Fixture.all(copy)).isEqualTo(before);
        assertThat(copy.verify().texts()).isEmpty();
        assertThat(copy.paused()).containsExactly("closed");
      }
    }
  }

  @Test
  void reportsItsDiskAndMemoryUse() {
    try (RocksTimerStore store = RocksTimerStore.open(directory)) {
      new Fixture(store).fill();
      RocksFigures figures = store.figures();
      assertThat(figures.logBytes()).isPositive();
      assertThat(figures.diskBytes()).isGreaterThan(figures.logBytes());
      assertThat(figures.memtableBytes()).isPositive();
      assertThat(figures.writesStopped()).isFalse();
      assertThat(figures.backgroundErrors()).isZero();
    }
  }
}
