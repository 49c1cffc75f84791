// SPDX-License-Identifier: Apache-2.0

/**
 * Work on the whole database. The entry is {@link
 * io.timewheel.durable.rocksdb.internal.maintenance.Maintenance}: backup, export, verify and
 * repair. {@code Verifier} compares the families, {@code Fixes} writes what it found missing,
 * {@code PastDamage} reads past blocks that are damaged, and {@code Unread} lists what an export
 * left out.
 */
@NullMarked
package io.timewheel.durable.rocksdb.internal.maintenance;

import org.jspecify.annotations.NullMarked;
