// SPDX-License-Identifier: Apache-2.0

/**
 * Durable timers: acknowledged when they are safe in a store, and fired at least once from then on.
 * The entry is {@link io.timewheel.durable.DurableTimer}; a {@code DurableTimerBuilder} makes one,
 * and {@code Requests} makes changes of its calls.
 *
 * <p>The packages below, bottom up, each knowing only those before it: {@code model}, {@code spi},
 * {@code internal.health}, {@code internal.time}, {@code internal.commit}, {@code internal.due},
 * {@code internal.attempt}, {@code internal.queue}, {@code internal.dispatch}, {@code
 * internal.maintenance}, {@code internal.memory}, {@code internal.engine}. A timer passes {@code
 * DurableTimer}, {@code Requests}, {@code Committer}, the store, {@code OutcomeRouter}, {@code
 * OwnedShards}, the wheel, {@code Dispatcher}, {@code Handlers}, {@code AttemptRun}, {@code
 * AttemptEndRecorder} and the {@code Committer} again.
 */
@NullMarked
package io.timewheel.durable;

import org.jspecify.annotations.NullMarked;
