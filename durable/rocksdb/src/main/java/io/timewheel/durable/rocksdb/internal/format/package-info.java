// SPDX-License-Identifier: Apache-2.0

/**
 * Encodes keys and records; no class here depends on RocksDB. The entry is {@link
 * io.timewheel.durable.rocksdb.internal.format.RecordCodec}, with {@code Keys} for the keys of all
 * families and {@code Meta} for those of the family META. They use {@code ByteWriter}, {@code
 * ByteReader} and {@code Text}.
 */
@NullMarked
package io.timewheel.durable.rocksdb.internal.format;

import org.jspecify.annotations.NullMarked;
