// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

import static io.timewheel.durable.rocksdb.Fixture.NOW;
import static io.timewheel.durable.rocksdb.Fixture.schedule;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.rocksdb.internal.file.LogCheck;
import io.timewheel.durable.rocksdb.internal.file.VersionFloor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Verifies that a damaged or missing log is reported, and loses its commits but no versions. */
class DamagedLogTest {
  private static final Logger LOGGER = Logger.getLogger(RocksTimerStore.class.getName());

  @TempDir Path directory;

  private final List<String> warnings = new CopyOnWriteArrayList<>();
  private final Handler handler =
      new Handler() {
        @Override
        public void publish(LogRecord line) {
          if (line.getLevel().intValue() >= Level.WARNING.intValue()) {
            warnings.add(line.getMessage());
          }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  @BeforeEach
  void listen() {
    LOGGER.addHandler(handler);
  }

  @AfterEach
  void stopListening() {
    LOGGER.removeHandler(handler);
  }

  /** Creates a store as after a kill, with one commit for each timer. */
  private Path killed(int timers, int payloadBytes) throws IOException {
    Path store = directory.resolve("store");
    Path copy = directory.resolve("copy");
    try (RocksTimerStore open = RocksTimerStore.open(store)) {
      Fixture fixture = new Fixture(open);
      for (int i = 0; i < timers; i++) {
        fixture.commit(
            schedule(Fixture.key("t" + i), NOW, Fixture.definition(false, payloadBytes)));
      }
      copy(store, copy);
    }
    return copy;
  }

  private static void copy(Path from, Path to) throws IOException {
    Files.createDirectory(to);
    try (var files = Files.list(from)) {
      for (Path file : files.toList()) {
        if (!file.endsWith("LOCK")) {
          Files.copy(file, to.resolve(file.getFileName()));
        }
      }
    }
  }

  private static Path log(Path store) throws IOException {
    List<Path> files = LogCheck.files(store);
    return files.get(files.size() - 1);
  }

  private static void flip(Path file, int at) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    bytes[at] ^= 4;
    Files.write(file, bytes);
  }

  /** Counts the timers, and verifies that no version is used twice. */
  private static int timersIn(Path store, long versionsGiven) {
    try (RocksTimerStore open = RocksTimerStore.open(store)) {
      Fixture fixture = new Fixture(open);
      int timers = fixture.all().size();
      assertThat(open.verify().texts()).isEmpty();
      assertThat(fixture.commit(schedule("next", NOW)).version()).isGreaterThan(versionsGiven);
      assertThat(open.verify().texts()).isEmpty();
      return timers;
    }
  }

  @Test
  void reportsDamageThatIsFollowedBySoundRecords() throws IOException {
    Path store = killed(24, 9);
    Path log = log(store);
    long size = Files.size(log);
    byte[] before = Files.readAllBytes(log);
    flip(log, (int) size / 3);
    LogCheck.Damage damage = LogCheck.find(store);

    assertThat(timersIn(store, 24)).isBetween(1, 23);

    String name = log.getFileName().toString();
    assertThat(warnings)
        .singleElement()
        .asString()
        .contains(store.toString())
        .contains("with sound records behind the damage")
        .contains(name + " at " + damage.position() + ": ")
        .contains(" the last " + (size - damage.position()) + " bytes are dropped");
    assertThat(damage.position()).isLessThanOrEqualTo(size / 3);
    assertThat(Files.readAllBytes(store.resolve(name + ".damaged"))).hasSameSizeAs(before);
    warnings.clear();
    timersIn(store, 25);
    assertThat(warnings).isEmpty();
  }

  @Test
  void reportsNoDamageInTheLogOfAStoreInUse() throws IOException {
    Path store = directory.resolve("store");
    try (RocksTimerStore open = RocksTimerStore.open(store)) {
      Fixture fixture = new Fixture(open);
      for (int i = 0; i < 24; i++) {
        fixture.commit(schedule("t" + i, NOW));
      }
      Path log = log(store);
      flip(log, (int) Files.size(log) / 3);
      assertThat(LogCheck.find(store).soundBehind()).isTrue();

      assertThatThrownBy(() -> RocksTimerStore.open(store))
          .hasMessageContaining("is in use by another store");

      assertThat(warnings).isEmpty();
      assertThat(store.resolve(log.getFileName() + ".damaged")).doesNotExist();
      assertThat(fixture.all()).hasSize(24);
    }
  }

  @Test
  void reportsAMissingLog() throws IOException {
    Path store = killed(24, 9);
    Files.delete(log(store));
    assertThat(timersIn(store, 24)).isZero();
    assertThat(warnings)
        .containsExactly(store + ": the write-ahead log is missing: the latest writes are lost");
  }

  @Test
  void acceptsAnIncompleteRecordAfterAKill() throws IOException {
    Path store = killed(24, 9);
    Path log = log(store);
    byte[] bytes = Files.readAllBytes(log);
    Files.write(log, Arrays.copyOf(bytes, bytes.length - 10));
    assertThat(LogCheck.find(store).soundBehind()).isFalse();
    assertThat(timersIn(store, 24)).isEqualTo(23);
    assertThat(warnings).isEmpty();
  }

  @Test
  void acceptsZerosAndGarbageAtTheEndAfterAPowerCut() throws IOException {
    Path store = killed(5, 9);
    Path log = log(store);
    Files.write(log, new byte[70_000], StandardOpenOption.APPEND);
    assertThat(LogCheck.find(store)).isNull();
    byte[] rubbish = new byte[70_000];
    new Random(1).nextBytes(rubbish);
    Files.write(log, rubbish, StandardOpenOption.APPEND);
    LogCheck.Damage damage = LogCheck.find(store);
    assertThat(damage.soundBehind()).isFalse();
    assertThat(damage.droppedBytes()).isEqualTo(140_000);
    assertThat(timersIn(store, 5)).isEqualTo(5);
    assertThat(warnings).isEmpty();
  }

  @Test
  void readsRecordsThatSpanBlocks() throws IOException {
    Path store = killed(6, 60_000);
    Path log = log(store);
    assertThat(Files.size(log)).isGreaterThan(360_000);
    assertThat(LogCheck.find(store)).isNull();
    byte[] bytes = Files.readAllBytes(log);
    for (int at = 1_000; at < bytes.length - 70_000; at += 30_011) {
      flip(log, at);
      LogCheck.Damage damage = LogCheck.find(store);
      assertThat(damage.position()).isBetween(Math.max(0, at - 70_000L), (long) at);
      assertThat(damage.soundBehind()).isTrue();
      assertThat(damage.droppedBytes()).isEqualTo(bytes.length - damage.position());
      Files.write(log, bytes);
    }
    Files.write(log, Arrays.copyOf(bytes, bytes.length - 100));
    LogCheck.Damage cut = LogCheck.find(store);
    assertThat(cut.soundBehind()).isFalse();
    assertThat(cut.position()).isLessThan(bytes.length - 60_000);
    assertThat(timersIn(store, 6)).isEqualTo(5);
  }

  @Test
  void leavesNoGapInTheVersionsAfterAClose() throws IOException {
    Path store = directory.resolve("store");
    for (int round = 1; round < 4; round++) {
      try (RocksTimerStore open = RocksTimerStore.open(store)) {
        assertThat(new Fixture(open).commit(schedule("t" + round, NOW)).version()).isEqualTo(round);
      }
    }
  }

  @Test
  void opensABackupWithoutAWarning() throws IOException {
    Path backup = directory.resolve("backup");
    try (RocksTimerStore open = RocksTimerStore.open(directory.resolve("store"))) {
      new Fixture(open).fill();
      open.backup(backup);
    }
    assertThat(timersIn(backup, 13)).isEqualTo(13);
    assertThat(warnings).isEmpty();
  }

  @Test
  void refusesAnInvalidFileOfVersions() throws IOException {
    Path store = killed(1, 9);
    Files.writeString(store.resolve(VersionFloor.FILE), "12");
    assertThatThrownBy(() -> RocksTimerStore.open(store))
        .hasMessageContaining("VERSIONS does not contain \"timewheel-versions 1 …\"");
  }
}
