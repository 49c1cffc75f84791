// SPDX-License-Identifier: Apache-2.0

/**
 * The timers of owned shards that are due soon, on the wheel. The entry is {@link
 * io.timewheel.durable.internal.due.OwnedShards}. Read on with {@code Shard}, {@code Window} and
 * {@code DueEntry}, which goes to the {@code DueSink} when its time has come. {@code Sweeps} finds
 * the changes of other nodes, {@code HandlerQuota} shares a window among handlers, {@code
 * ClockWatch} and {@code ClockSteps} follow jumps of the machine's clock, and {@code MissedRule}
 * decides what a late entry runs. {@code DueQueue} and {@code InFlightLimit} hold entries that
 * wait.
 */
@NullMarked
package io.timewheel.durable.internal.due;

import org.jspecify.annotations.NullMarked;
