// SPDX-License-Identifier: Apache-2.0

/**
 * Computes times. The entry is {@link io.timewheel.durable.internal.time.MissedRunPolicy}, which
 * decides which run comes next and whether a run was missed. A {@code Recurrence} defines the times
 * of the runs. {@code From} adds a first time to a recurrence, {@code Ending} adds an end, and
 * {@code Jittered} delays its runs. {@code RecurrenceParser} parses the stored form. {@code Cron}
 * finds the next run by local time; one run at the end of a daylight-saving gap replaces all times
 * in it. {@code Decision} and {@code NextRun} apply the rule for missed runs. {@code EngineClock}
 * is the wall clock, and {@code EpochMillis} rounds and saturates.
 */
@NullMarked
package io.timewheel.durable.internal.time;

import org.jspecify.annotations.NullMarked;
