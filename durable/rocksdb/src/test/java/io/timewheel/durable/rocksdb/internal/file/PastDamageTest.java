// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.file;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.ReadOptions;
import org.rocksdb.ReadTier;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksIterator;

/** Verifies that a scan of a disk that fails at times ends, and reports all that it misses. */
class PastDamageTest {
  private static final int KEYS = 50;

  @TempDir Path directory;

  private final List<String> visited = new ArrayList<>();
  private final List<String> gaps = new ArrayList<>();
  private int checks;

  private static String key(int number) {
    return "k%02d".formatted(number);
  }

  private static String text(byte[] key) {
    return key == null ? "-" : new String(key, UTF_8);
  }

  /** Fails this number of scans at their beginning, and no search. */
  private void scan(int failures) throws Exception {
    RocksDB.loadLibrary();
    try (Database database = Database.open(directory, Settings.DEFAULT);
        ReadOptions sound = new ReadOptions().setFillCache(false);
        ReadOptions failing = new ReadOptions().setReadTier(ReadTier.BLOCK_CACHE_TIER)) {
      for (int i = 0; i < KEYS; i++) {
        database.db().put(database.handle(Family.TIMERS), key(i).getBytes(UTF_8), new byte[9]);
      }
      database.flush();
      PastDamage scan =
          new PastDamage(database, Family.TIMERS, sound, this::check) {
            private int left = failures;

            @Override
            RocksIterator seek(byte[] key) {
              if (key.length > 3 || left-- <= 0) {
                return super.seek(key);
              }
              RocksIterator at = database.db().newIterator(database.handle(Family.TIMERS), failing);
              at.seek(key);
              return at;
            }
          };
      scan.scan(
          at -> visited.add(text(at.key())),
          (behind, before, why) -> gaps.add(text(behind) + " " + text(before)));
    }
  }

  private void check() {
    assertThat(++checks).as("a scan that ends").isLessThan(10_000);
  }

  private static List<String> keysFrom(int first) {
    return IntStream.range(first, KEYS).mapToObj(PastDamageTest::key).toList();
  }

  @Test
  void readsAll() throws Exception {
    scan(0);
    assertThat(visited).isEqualTo(keysFrom(0));
    assertThat(gaps).isEmpty();
  }

  @Test
  void continuesAfterThePositionWhereEachPassFailed() throws Exception {
    scan(3);
    assertThat(visited).isEqualTo(keysFrom(3));
    assertThat(gaps).containsExactly("- k03");
  }

  @Test
  void endsAlthoughEveryPassFails() throws Exception {
    scan(Integer.MAX_VALUE);
    assertThat(visited).isEmpty();
    assertThat(gaps).containsExactly("- -");
  }
}
