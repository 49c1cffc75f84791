// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

import io.timewheel.durable.spi.StoreException.Kind;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.rocksdb.RocksDBException;

/** What is done with an open database as a whole, beside its timers. */
final class Maintenance {
  private final Path directory;
  private final Database database;
  private final Failures failures;

  Maintenance(Path directory, Database database, Failures failures) {
    this.directory = directory;
    this.database = database;
    this.failures = failures;
  }

  void backup(Path target) {
    if (Files.exists(target)) {
      throw failures.of(
          Kind.REJECTED, "cannot be copied to " + target + ", which is there already");
    }
    try {
      Path parent = target.toAbsolutePath().getParent();
      if (parent != null) {
        Files.createDirectories(parent);
      }
      database.copyTo(target);
    } catch (IOException | RocksDBException e) {
      throw failures.of(Kind.UNAVAILABLE, "cannot be copied to " + target, e);
    }
  }

  VerifyReport verify() {
    try {
      return Verifier.verify(database);
    } catch (RocksDBException e) {
      throw failures.reading("cannot be verified", e);
    }
  }

  RocksFigures figures() {
    long diskBytes = 0;
    long logBytes = 0;
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
      for (Path file : files) {
        long size = sizeOf(file);
        diskBytes += size;
        logBytes += file.getFileName().toString().endsWith(".log") ? size : 0;
      }
      return new RocksFigures(
          diskBytes,
          database.sum("rocksdb.total-sst-files-size"),
          database.sum("rocksdb.total-blob-file-size"),
          logBytes,
          database.memtableBytes(),
          database.number("rocksdb.block-cache-usage"),
          database.sum("rocksdb.estimate-pending-compaction-bytes"),
          database.number("rocksdb.is-write-stopped") != 0,
          database.number("rocksdb.background-errors"));
    } catch (IOException e) {
      throw failures.of(Kind.UNAVAILABLE, "cannot be read", e);
    } catch (RocksDBException e) {
      throw failures.reading("has no figures", e);
    }
  }

  /** Files come and go meanwhile. */
  private static long sizeOf(Path file) throws IOException {
    try {
      return Files.size(file);
    } catch (NoSuchFileException e) {
      return 0;
    }
  }
}
