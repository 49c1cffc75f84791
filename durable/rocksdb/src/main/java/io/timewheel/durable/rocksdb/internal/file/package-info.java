// SPDX-License-Identifier: Apache-2.0

/**
 * The directory and the open database. The entry is {@link
 * io.timewheel.durable.rocksdb.internal.file.Opening}, which checks a directory ({@code LogCheck},
 * {@code NativeLibrary}) and opens its {@code Database} with each {@code Family}. {@code Batch} is
 * one atomic write, {@code PastDamage} reads past damaged blocks, {@code Flusher} forces writes to
 * disk, {@code VersionFloor} keeps versions ascending, and {@code Failures} turns errors of RocksDB
 * into exceptions of the store.
 */
@NullMarked
package io.timewheel.durable.rocksdb.internal.file;

import org.jspecify.annotations.NullMarked;
