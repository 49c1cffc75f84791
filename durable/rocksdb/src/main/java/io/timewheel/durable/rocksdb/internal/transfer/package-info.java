// SPDX-License-Identifier: Apache-2.0

/**
 * Timers as lines of JSON, for backups and for other stores. The entries are {@link
 * io.timewheel.durable.rocksdb.internal.transfer.Export} and {@link
 * io.timewheel.durable.rocksdb.internal.transfer.Import}, which trusts no line that it reads.
 */
@NullMarked
package io.timewheel.durable.rocksdb.internal.transfer;

import org.jspecify.annotations.NullMarked;
