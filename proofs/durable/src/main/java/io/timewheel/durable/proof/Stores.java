// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.rocksdb.RocksTimerStore;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.maintenance.VerifyReport;
import java.nio.file.Path;
import java.util.List;

/** Opens the store under test, with or without a fault. */
final class Stores {
  /** The fault of a store that persists nothing. */
  static final String MEMORY = "memory";

  private Stores() {}

  static TimerStore open(Path directory, String fault) {
    if (fault.equals(MEMORY)) {
      return InMemoryTimerStore.create();
    }
    return FaultyStores.seed(fault, RocksTimerStore.open(directory));
  }

  /** {@return the problems that the store in a directory, which is not open, finds in itself} */
  static List<String> verify(Path directory) {
    try (RocksTimerStore store = RocksTimerStore.open(directory)) {
      VerifyReport report = store.verify();
      return report.isClean() ? List.of() : report.texts();
    }
  }
}
