// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.rocksdb.RocksTimerStore;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.VerifyReport;
import java.nio.file.Path;
import java.util.List;

/** Opens the store that is put to the proof, with or without a fault in it. */
final class Stores {
  /** The fault of a store that keeps nothing. */
  static final String MEMORY = "memory";

  private Stores() {}

  static TimerStore open(Path directory, String fault) {
    if (fault.equals(MEMORY)) {
      return InMemoryTimerStore.create();
    }
    return FaultyStores.seed(fault, RocksTimerStore.open(directory));
  }

  /** {@return what the store in a directory, which is not open, finds wrong with itself} */
  static List<String> verify(Path directory) {
    try (RocksTimerStore store = RocksTimerStore.open(directory)) {
      VerifyReport report = store.verify();
      return report.isClean() ? List.of() : report.texts();
    }
  }
}
