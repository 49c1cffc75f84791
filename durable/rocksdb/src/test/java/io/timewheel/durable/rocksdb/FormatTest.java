// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.rocksdb.internal.file.Batch;
import io.timewheel.durable.rocksdb.internal.file.Database;
import io.timewheel.durable.rocksdb.internal.file.Family;
import io.timewheel.durable.rocksdb.internal.file.Opening;
import io.timewheel.durable.rocksdb.internal.file.Settings;
import io.timewheel.durable.spi.record.Change;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/**
 * Reads a store in format 4. This project contains its keys and values, line by line. If you change
 * the format after a release, create a new sample with {@link #main}, and keep this one.
 */
class FormatTest {
  @TempDir Path directory;

  private static List<String> sample(String name) throws IOException {
    try (InputStream in = requireNonNull(FormatTest.class.getResourceAsStream(name), name)) {
      return new String(in.readAllBytes(), UTF_8).lines().toList();
    }
  }

  @Test
  void readsAStoreOfFormat4() throws Exception {
    RocksDB.loadLibrary();
    try (Database database = Database.open(directory, Settings.DEFAULT);
        Batch batch = new Batch(database)) {
      for (String line : sample("format-4.txt")) {
        String[] parts = line.split(" ", -1);
        Base64.Decoder decoder = Base64.getDecoder();
        batch.put(Family.valueOf(parts[0]), decoder.decode(parts[1]), decoder.decode(parts[2]));
      }
      batch.write(true);
    }
    try (RocksTimerStore store = RocksTimerStore.open(directory)) {
      assertThat(export(store)).isEqualTo(sample("format-4.jsonl"));
      assertThat(store.verify().texts()).isEmpty();
      Fixture fixture = new Fixture(store);
      assertThat(fixture.epoch).isEqualTo(2);
      fixture.commit(fixture.begin("scheduled"));
      fixture.commit(fixture.finish("scheduled", Change.Finish.End.SUCCEEDED));
      assertThat(store.verify().texts()).isEmpty();
    }
  }

  private static List<String> export(RocksTimerStore store) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    store.exportTo(out);
    return out.toString(UTF_8).lines().toList();
  }

  /**
   * Writes a sample of the current format into a directory.
   *
   * @param args the directory
   */
  public static void main(String[] args) throws IOException, RocksDBException {
    Path target = Path.of(args[0]);
    Path data = Files.createTempDirectory("timewheel-format");
    try (RocksTimerStore store = RocksTimerStore.open(data)) {
      new Fixture(store).fill();
      Files.write(target.resolve("format-" + Opening.FORMAT + ".jsonl"), export(store));
    }
    List<String> lines = new ArrayList<>();
    Base64.Encoder encoder = Base64.getEncoder();
    try (Database database = Database.open(data, Settings.DEFAULT)) {
      for (Family family : Family.values()) {
        database.scan(
            family,
            null,
            null,
            null,
            at -> {
              String key = encoder.encodeToString(at.key());
              lines.add(family.name() + " " + key + " " + encoder.encodeToString(at.value()));
              return true;
            });
      }
    }
    Files.write(target.resolve("format-" + Opening.FORMAT + ".txt"), lines);
  }
}
