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
 * Contains the disk and memory use of a store, and the health of its database. The figures were
 * read within one call, not at exactly the same moment.
 *
 * @param diskBytes size of all files in the directory, in bytes
 * @param tableBytes size of the table files, including obsolete ones that a reader still uses
 * @param blobBytes size of the files of large payloads
 * @param logBytes size of the write-ahead log
 * @param memtableBytes memory that holds entries not yet in table files
 * @param blockCacheBytes memory that holds blocks, indexes and filters of table files
 * @param pendingCompactionBytes bytes that compactions would rewrite now; a value that grows for a
 *     long time means that the disk is too slow for the writes
 * @param writesStopped true if writes wait for compactions
 * @param backgroundErrors number of failed flushes and compactions
 * @param damagedReads number of reads that have met damage since the store was opened; the first is
 *     in the log, and {@link RocksTimerStore#verify} lists all damage
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

  /** Returns 0 for a file that was deleted after the directory was listed. */
  private static long sizeOf(Path file) throws IOException {
    try {
      return Files.size(file);
    } catch (NoSuchFileException e) {
      return 0;
    }
  }
}
