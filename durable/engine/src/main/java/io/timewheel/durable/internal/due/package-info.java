// SPDX-License-Identifier: Apache-2.0

/**
 * Holds the timers of owned shards that are due soon, on the wheel. The entry is {@link
 * io.timewheel.durable.internal.due.OwnedShards}. Read {@code Shard}, {@code Window} and {@code
 * DueEntry} next. A {@code DueEntry} goes to the {@code DueSink} when it is due. {@code Sweeps}
 * finds the changes of other nodes, and {@code HandlerQuota} shares a window among handlers. {@code
 * ClockWatch} and {@code ClockSteps} follow jumps of the machine's clock. {@code MissedRule}
 * decides which run a late entry begins. {@code DueQueue} and {@code InFlightLimit} hold entries
 * that wait.
 */
@NullMarked
package io.timewheel.durable.internal.due;

import org.jspecify.annotations.NullMarked;
