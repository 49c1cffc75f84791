// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

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
    long damagedReads) {}
