// SPDX-License-Identifier: Apache-2.0

/**
 * The contract of a store, for three kinds of store: embedded, a database that many nodes share,
 * and a log. The entry is {@link io.timewheel.durable.spi.TimerStore}.
 *
 * <p>The vocabulary. A <em>record</em> is all that is stored about one timer. A <em>change</em> is
 * one conditional step of one record, and its <em>answer</em> says whether the step was taken. The
 * <em>due index</em> orders records by shard, fire time and key. A <em>claim</em> is an attempt
 * that has begun and whose end is not recorded. An <em>owner</em> is the session that fires a
 * shard; its <em>epoch</em> grows with every owner. {@link io.timewheel.durable.spi.Transitions} is
 * the table of state and change that every store follows: {@code ScheduleStep} makes a timer;
 * {@code OwnerSteps} claims a due one, makes it ready or skips its run, and a pause of its
 * namespace stops it there; {@code EndSteps} ends an attempt; {@code PersonSteps} has the verbs,
 * such as pause and retry.
 *
 * <p>All times are milliseconds since 1970, UTC.
 */
@NullMarked
package io.timewheel.durable.spi;

import org.jspecify.annotations.NullMarked;
