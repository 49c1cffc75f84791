// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.testkit.TimerStoreContract;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class RocksTimerStoreTest extends TimerStoreContract {
  @TempDir Path directory;

  @Override
  protected TimerStore create() {
    return RocksTimerStore.open(directory);
  }

  @Override
  protected TimerStore reopen(TimerStore closed) {
    return RocksTimerStore.open(directory);
  }
}
