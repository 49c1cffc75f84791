// SPDX-License-Identifier: Apache-2.0

/**
 * Reports the state of the engine to operators. The entry is {@link
 * io.timewheel.durable.internal.health.Health}, which contains the {@code Counters}, the {@code
 * OperatorLog}, and a {@code StoreHealth} for reads and one for commits. {@code GuardedLog} is the
 * log of the engine, {@code Events} reports to Flight Recorder, and {@code LagRecorder} counts the
 * lag of attempts.
 */
@NullMarked
package io.timewheel.durable.internal.health;

import org.jspecify.annotations.NullMarked;
