// SPDX-License-Identifier: Apache-2.0

/**
 * Holds the timers of owned shards that are due soon, on the wheel. The entry is {@link
 * io.timewheel.durable.internal.due.OwnedShards}. Read {@code Shard}, {@code Window} and {@code
 * DueEntry} next. {@code Coverage} contains the positions that a window has read, {@code LoadPlan}
 * chooses its next load, and {@code WindowEntries} shares it among handlers. A {@code DueEntry}
 * goes to the {@code DueSink} when it is due. Entries that wait there are in a {@code DueQueue},
 * which hands each over once. {@code Sweeps} finds the changes of other nodes. {@code ClockWatch}
 * and {@code ClockSteps} follow jumps of the machine's clock. {@code MissedRule} decides which run
 * a late entry begins.
 */
@NullMarked
package io.timewheel.durable.internal.due;

import org.jspecify.annotations.NullMarked;
