// SPDX-License-Identifier: Apache-2.0

/**
 * Encodes keys and the values of indexes; no class here depends on RocksDB. {@code Keys} has the
 * keys of all families, {@code Meta} those of the family META, and {@code Entries} the values of
 * indexes and answers.
 */
@NullMarked
package io.timewheel.durable.rocksdb.internal.format;

import org.jspecify.annotations.NullMarked;
