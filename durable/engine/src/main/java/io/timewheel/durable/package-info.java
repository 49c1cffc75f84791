// SPDX-License-Identifier: Apache-2.0

/**
 * Schedules durable timers. Once a call returns, its timer is in the store and fires at least once.
 * The entry is {@link io.timewheel.durable.DurableTimer}. {@code DurableTimerBuilder} builds one,
 * {@code Changes} converts its calls into changes, and {@code Requests} submits them.
 *
 * <p>The packages, bottom up; each depends only on those before it: {@code model}, {@code
 * spi.record}, {@code spi}, {@code spi.batch}, {@code spi.format}, {@code spi.maintenance}, {@code
 * internal.health}, {@code internal.time}, {@code internal.commit}, {@code internal.due}, {@code
 * internal.attempt}, {@code internal.queue}, {@code internal.dispatch}, {@code
 * internal.maintenance}, {@code internal.memory}, {@code internal.engine}. A timer passes {@code
 * DurableTimer}, {@code Requests}, {@code Committer}, the store, {@code OutcomeRouter}, {@code
 * OwnedShards}, the wheel, {@code Dispatcher}, {@code Handlers}, {@code AttemptRun}, {@code
 * AttemptEndRecorder} and the {@code Committer} again.
 */
@NullMarked
package io.timewheel.durable;

import org.jspecify.annotations.NullMarked;
