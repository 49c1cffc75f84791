// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.file;

/**
 * How a store is opened.
 *
 * @param blockCacheBytes how much memory the cache of blocks, indexes and filters may take
 * @param writeBufferBytes how much memory what is not yet in table files may take
 * @param maxOpenFiles how many files may be open
 */
public record Settings(long blockCacheBytes, long writeBufferBytes, int maxOpenFiles) {
  /** The settings of a store for which nobody has set others. */
  public static final Settings DEFAULT = new Settings(64L << 20, 64L << 20, 512);

  /** The write-ahead log holds what the write buffers do, and what was deleted of it meanwhile. */
  long maxLogBytes() {
    return 4 * writeBufferBytes;
  }
}
