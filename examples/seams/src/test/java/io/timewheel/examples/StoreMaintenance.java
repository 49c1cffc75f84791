// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

import io.timewheel.durable.rocksdb.RocksTimerStore;
import io.timewheel.durable.spi.maintenance.VerifyReport;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Backs up, checks, exports and imports stores. */
final class StoreMaintenance {
  private StoreMaintenance() {}

  /** Writes a backup while the scheduler runs. The backup is verified by reading all of it. */
  static void backUp(RocksTimerStore store, Path backup) {
    store.backup(backup); // must not exist; links on the same file system, so copy it elsewhere
    try (RocksTimerStore copy = RocksTimerStore.open(backup)) {
      check(copy.verify());
    }
  }

  static void check(VerifyReport report) {
    if (!report.isClean()) {
      throw new IllegalStateException(
          report.problems() + " problems: " + String.join("; ", report.texts()));
    }
  }

  /** Exports all timers as lines of JSON while the scheduler runs. */
  static long exportTo(Path file, RocksTimerStore store) throws IOException {
    try (OutputStream out = Files.newOutputStream(file)) {
      return store.exportTo(out);
    }
  }

  /** Imports into a new or existing directory. Newer versions win, so it can be repeated. */
  static long importInto(Path directory, Path file) throws IOException {
    try (RocksTimerStore store = RocksTimerStore.open(directory);
        InputStream in = Files.newInputStream(file)) {
      return store.importFrom(in);
    }
  }
}
