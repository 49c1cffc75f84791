// SPDX-License-Identifier: Apache-2.0

/**
 * Arithmetic of time. The entry is {@link io.timewheel.durable.internal.time.MissedRunPolicy}:
 * which run comes next, and whether one was missed. A {@code Recurrence} gives the times of the
 * runs; {@code From} gives another one a first time, and {@code Jittered} moves its runs. {@code
 * RecurrenceParser} reads the stored form. {@code Cron} finds the next one by local time: times in
 * the gap of daylight saving make one run at its end. {@code Decision} and {@code NextRun} apply
 * the rule for missed runs; {@code EngineClock} is the wall clock, and {@code EpochMillis} rounds
 * and saturates.
 */
@NullMarked
package io.timewheel.durable.internal.time;

import org.jspecify.annotations.NullMarked;
