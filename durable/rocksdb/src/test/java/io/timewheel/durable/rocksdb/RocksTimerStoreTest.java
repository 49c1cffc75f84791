// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.testkit.TimerStoreContract;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/**
 * The tests close each store, so they prove nothing about a sync: {@code OpeningTest} has the
 * modes.
 */
class RocksTimerStoreTest extends TimerStoreContract {
  @TempDir Path directory;

  @Override
  protected TimerStore create() {
    return Fixture.open(directory);
  }

  @Override
  protected TimerStore reopen(TimerStore closed) {
    return Fixture.open(directory);
  }
}
