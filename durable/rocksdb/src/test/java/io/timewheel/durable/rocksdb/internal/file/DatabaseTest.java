// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.file;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.rocksdb.internal.format.Keys;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.PerfContext;
import org.rocksdb.PerfLevel;
import org.rocksdb.RocksDBException;

class DatabaseTest {
  private static final int CACHE_BYTES = 256 << 10;

  /** With this number, the filter of the table is larger than the cache. */
  private static final int TIMERS = 250_000;

  /** With this size, there are several flushes. The filter of a single one would stay in memory. */
  private static final int WRITE_BUFFER_BYTES = 16 << 20;

  private static final int LOOKUPS = 1_000;

  @Test
  void looksUpANewTimerWithoutReadingTheFilterOfAWholeTable(@TempDir Path directory)
      throws RocksDBException {
    Settings settings = new Settings(CACHE_BYTES, WRITE_BUFFER_BYTES, 512);
    NativeLibrary.load();
    try (Database database = Database.open(directory, settings)) {
      for (int i = 0; i < TIMERS; ) {
        try (Batch batch = new Batch(database)) {
          for (int end = i + 1_000; i < end; i++) {
            // Not in order. Otherwise, each flush would create a table that is never compacted.
            batch.put(Family.TIMERS, key("o" + Math.floorMod(i * 7_919L, TIMERS)), new byte[8]);
          }
          batch.write(false);
        }
      }
      database.flush();
      database.db().compactRange(database.handle(Family.TIMERS));

      database.db().setPerfLevel(PerfLevel.ENABLE_COUNT);
      PerfContext context = database.db().getPerfContext();
      context.reset();
      for (int i = 0; i < LOOKUPS; i++) {
        assertThat(database.get(Family.TIMERS, key("o" + i * 997 + "x"))).isNull();
      }
      assertThat(context.getBlockReadByte() / LOOKUPS).isLessThan(32 << 10);
    }
  }

  private static byte[] key(String id) {
    return Keys.timer(new TimerKey("shop", id));
  }
}
