// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.file;

/**
 * The settings of the database.
 *
 * @param blockCacheBytes maximum memory for the cache of blocks, indexes and filters, in bytes
 * @param writeBufferBytes maximum memory for entries not yet in table files, in bytes
 * @param maxOpenFiles maximum number of open files
 */
public record Settings(long blockCacheBytes, long writeBufferBytes, int maxOpenFiles) {
  /** The default settings. */
  public static final Settings DEFAULT = new Settings(64L << 20, 64L << 20, 512);

  /**
   * Returns the maximum size of the write-ahead log in bytes. The log contains the entries of the
   * write buffers, and entries that were deleted from them since.
   */
  long maxLogBytes() {
    return 4 * writeBufferBytes;
  }
}
