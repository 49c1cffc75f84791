// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

import io.timewheel.durable.rocksdb.internal.file.Database;
import io.timewheel.durable.rocksdb.internal.file.Failures;
import io.timewheel.durable.spi.StoreException.Kind;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.rocksdb.RocksDBException;

/**
 * What a store takes up, and how its database is doing. Each figure is of about the same moment.
 *
 * @param diskBytes all files in the directory
 * @param tableBytes table files, those included that are to be deleted once nobody reads them
 * @param blobBytes files of large payloads
 * @param logBytes the write-ahead log
 * @param memtableBytes memory for what is not in table files yet
 * @param blockCacheBytes memory for blocks, indexes and filters of table files
 * @param pendingCompactionBytes how much compactions would rewrite now; what grows for long means
 *     that the disk is too slow for what is written
 * @param writesStopped whether writes wait for compactions
 * @param backgroundErrors how many flushes and compactions have failed
 * @param damagedReads how many reads have met something that is damaged since the store was opened;
 *     the first is in the log, and {@link RocksTimerStore#verify} names all
 */
public record RocksFigures(
    long diskBytes,
    long tableBytes,
    long blobBytes,
    long logBytes,
    long memtableBytes,
    long blockCacheBytes,
    long pendingCompactionBytes,
    boolean writesStopped,
    long backgroundErrors,
    long damagedReads) {

  static RocksFigures of(Path directory, Database database, Failures failures) {
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
          database.number("rocksdb.background-errors"),
          failures.damagedReads());
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
