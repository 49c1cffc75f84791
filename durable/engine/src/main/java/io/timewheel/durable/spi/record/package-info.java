// SPDX-License-Identifier: Apache-2.0

/**
 * The record of a timer and its changes. {@link io.timewheel.durable.spi.record.Transitions}
 * defines the effect of each {@link io.timewheel.durable.spi.record.Change} on a {@link
 * io.timewheel.durable.spi.record.TimerRecord}, and its {@link
 * io.timewheel.durable.spi.record.Outcome}. {@code ScheduleStep} creates a timer. {@code
 * OwnerSteps} claims a due timer, makes it ready, skips its run, or holds it if its namespace is
 * paused. {@code EndSteps} ends an attempt. {@code VerbSteps} applies the commands of operators,
 * such as pause and retry. No class reads or writes a store.
 */
@NullMarked
package io.timewheel.durable.spi.record;

import org.jspecify.annotations.NullMarked;
