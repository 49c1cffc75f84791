// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

/**
 * What a {@link DurableTimer} has done since it was started.
 *
 * @param fired attempts that began
 * @param succeeded attempts that ended well
 * @param failed attempts that failed
 * @param setAside runs whose attempts were exhausted, or that a handler gave up
 * @param parked timers whose handler was not known
 * @param lost attempts that died with their process, and leases that ran out
 * @param skipped times that missed runs were passed over
 * @param staleOwner times that a shard was found to have another owner
 * @param unknownOutcomes changes whose outcome the store could not tell
 * @param window how many entries are on the wheel
 * @param maxLagMillis the longest time from due to the begin of an attempt
 */
public record DurableStats(
    long fired,
    long succeeded,
    long failed,
    long setAside,
    long parked,
    long lost,
    long skipped,
    long staleOwner,
    long unknownOutcomes,
    int window,
    long maxLagMillis) {}
