// SPDX-License-Identifier: Apache-2.0

/**
 * Work on whole tables. The entries are {@link
 * io.timewheel.durable.jdbc.internal.maintenance.HistoryPurger}, which purges finished timers,
 * {@link io.timewheel.durable.jdbc.internal.maintenance.Repair}, and {@code TimerExport} and {@code
 * TimerImport}, which copy all timers from and to another store. {@code Verifier} compares the
 * tables, {@code TimerRepair} fixes a problem of one timer, {@code Findings} collects the problems,
 * and {@code ReadyIndex} lists the indexes of ready timers.
 */
@NullMarked
package io.timewheel.durable.jdbc.internal.maintenance;

import org.jspecify.annotations.NullMarked;
