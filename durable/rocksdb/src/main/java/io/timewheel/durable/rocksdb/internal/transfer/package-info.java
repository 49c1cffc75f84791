// SPDX-License-Identifier: Apache-2.0

/**
 * Exports and imports timers as lines of JSON, for backups and for other stores. The entries are
 * {@link io.timewheel.durable.rocksdb.internal.transfer.JsonExport} and {@link
 * io.timewheel.durable.rocksdb.internal.transfer.JsonImport}, which validates every line.
 */
@NullMarked
package io.timewheel.durable.rocksdb.internal.transfer;

import org.jspecify.annotations.NullMarked;
