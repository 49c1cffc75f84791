// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.rocksdb.RocksTimerStore;
import io.timewheel.durable.spi.maintenance.IncompleteExportException;
import io.timewheel.durable.spi.maintenance.VerifyReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The code in docs/operate/embedded.md; DocumentationTest compares the two. */
class StoreMaintenanceTest {
  @TempDir Path directory;

  @Test
  void carriesTimersToAnotherStore() throws IOException {
    Path backup = directory.resolve("backup");
    Path file = directory.resolve("timers.jsonl");
    Path other = directory.resolve("other");
    RocksTimerStore store = RocksTimerStore.open(directory.resolve("store"));
    try (DurableTimer scheduler =
        DurableTimer.builder(store).handler("orders.cancel", firing -> {}).start()) {
      scheduler.schedule(
          TimerSpec.of("shop", "order-42").after(Duration.ofDays(1)).handler("orders.cancel"));

      StoreMaintenance.backUp(store, backup);
      assertThat(StoreMaintenance.exportTo(file, store)).isEqualTo(1);
    }

    assertThat(StoreMaintenance.importInto(other, file)).isEqualTo(1);
    assertThat(StoreMaintenance.importInto(backup, file)).isZero(); // they already exist
    assertThat(StoreMaintenance.importInto(other, file)).isZero();
  }

  @Test
  void exportsTheReadableTimersOfADamagedStore() throws Exception {
    Path damaged = directory.resolve("damaged");
    Path file = directory.resolve("timers.jsonl");
    fill(damaged, 2_000);
    damageTheLargestTable(damaged);
    IncompleteExportException incomplete;
    try (RocksTimerStore store = RocksTimerStore.open(damaged)) {
      incomplete =
          catchThrowableOfType(
              IncompleteExportException.class, () -> StoreMaintenance.exportTo(file, store));
    }

    assertThat(incomplete.unread()).isBetween(1L, 40L);
    assertThat(StoreMaintenance.importInto(directory.resolve("other"), file))
        .isEqualTo(incomplete.timers())
        .isEqualTo(2_000 - incomplete.unread());
  }

  private static void fill(Path directory, int timers) {
    byte[] payload = new byte[300];
    Random random = new Random(1);
    try (DurableTimer scheduler = DurableTimer.builder(RocksTimerStore.open(directory)).start()) {
      List<TimerSpec> specs = new ArrayList<>();
      for (int i = 0; i < timers; i++) {
        random.nextBytes(payload); // random bytes, which cannot be compressed
        specs.add(
            TimerSpec.of("shop", "order-" + i)
                .after(Duration.ofDays(1))
                .payload(payload.clone())
                .handler("orders.cancel"));
      }
      scheduler.scheduleAll(specs);
    }
  }

  private static void damageTheLargestTable(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      Path table =
          files
              .filter(file -> file.toString().endsWith(".sst"))
              .max(Comparator.comparingLong(file -> file.toFile().length()))
              .orElseThrow();
      byte[] bytes = Files.readAllBytes(table);
      bytes[bytes.length / 2] ^= 4;
      Files.write(table, bytes);
    }
  }

  @Test
  void reportsTheProblemsOfAStore() {
    VerifyReport report = new VerifyReport(1, 1, List.of("shop/order-42: no entry"));
    assertThatThrownBy(() -> StoreMaintenance.check(report))
        .hasMessage("1 problems: shop/order-42: no entry");
  }
}
