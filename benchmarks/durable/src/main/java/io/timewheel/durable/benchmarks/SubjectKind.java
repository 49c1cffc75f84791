// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.rocksdb.RocksTimerStore;
import io.timewheel.durable.rocksdb.SyncMode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/** The subjects that are measured. */
@SuppressWarnings("ImmutableEnumChecker") // a factory is a lambda or has no state
enum SubjectKind {
  SYNCED("timewheel", "**Ours, synced**", timewheel(SyncMode.sync())),
  INTERVAL(
      "timewheel-interval",
      "Ours, synced every 100 ms",
      timewheel(SyncMode.interval(Duration.ofMillis(100)))),
  OS("timewheel-os", "Ours, left to the operating system", timewheel(SyncMode.os())),
  MEMORY(
      "engine",
      "Our engine on a store in memory",
      (directory, onFire) -> new TimewheelSubject(InMemoryTimerStore.create(), () -> -1, onFire)),
  QUARTZ("quartz", "Quartz, JobStoreTX on H2", QuartzSubject::onH2),
  DB_SCHEDULER("db-scheduler", "db-scheduler on H2", DbSchedulerSubject::onH2),
  ROCKSDB("rocksdb", "RocksDB alone, synced", (directory, onFire) -> new RocksFloor(directory)),
  SQLITE(
      "sqlite",
      "SQLite alone, WAL, synchronous=FULL",
      (directory, onFire) -> new SqliteFloor(directory)),
  MVSTORE("mvstore", "MVStore alone, synced", (directory, onFire) -> new MvStoreFloor(directory));

  /** The subject that others are compared with. */
  static final SubjectKind OURS = SYNCED;

  /** Opens a subject in its own directory. */
  @FunctionalInterface
  private interface Opener {
    Subject open(Path directory, Subject.OnFire onFire) throws Exception;
  }

  private final String id;
  private final String title;
  private final Opener opener;

  SubjectKind(String id, String title, Opener opener) {
    this.id = id;
    this.title = title;
    this.opener = opener;
  }

  private static Opener timewheel(SyncMode sync) {
    return (directory, onFire) -> {
      RocksTimerStore store = RocksTimerStore.builder(directory).sync(sync).open();
      return new TimewheelSubject(store, () -> store.figures().pendingCompactionBytes(), onFire);
    };
  }

  String id() {
    return id;
  }

  /** Returns the title for a table. */
  String title() {
    return title;
  }

  Subject open(Path directory, Subject.OnFire onFire) throws Exception {
    return opener.open(directory, onFire);
  }

  /** Returns the subjects that fire due timers. */
  static List<SubjectKind> timers() {
    return Arrays.stream(values()).filter(kind -> !kind.isFloor()).toList();
  }

  /** Returns whether it is another project's scheduler. */
  boolean isPeer() {
    return this == QUARTZ || this == DB_SCHEDULER;
  }

  /** Returns whether it only stores. */
  boolean isFloor() {
    return this == ROCKSDB || this == SQLITE || this == MVSTORE;
  }

  static SubjectKind of(String id) {
    return Arrays.stream(values())
        .filter(kind -> kind.id.equals(id))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no subject " + id));
  }
}
