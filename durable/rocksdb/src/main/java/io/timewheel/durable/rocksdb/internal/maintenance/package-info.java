// SPDX-License-Identifier: Apache-2.0

/**
 * Work on the whole database. The entry is {@link
 * io.timewheel.durable.rocksdb.internal.maintenance.Maintenance}: backup, export, verification and
 * repair. {@code Verifier} compares the families, {@code Fixes} writes the repairs, and {@code
 * Unread} lists the timers that an export could not read.
 */
@NullMarked
package io.timewheel.durable.rocksdb.internal.maintenance;

import org.jspecify.annotations.NullMarked;
