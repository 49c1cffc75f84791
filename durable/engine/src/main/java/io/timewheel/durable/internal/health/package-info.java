// SPDX-License-Identifier: Apache-2.0

/**
 * Everything that an operator sees of the engine. The entry is {@link
 * io.timewheel.durable.internal.health.Health}, which holds the {@code Counters}, the {@code
 * OperatorLog} and two {@code StoreHealth}, of reads and of commits. {@code GuardedLog} is the log
 * of the engine, {@code Events} are those of Flight Recorder, and {@code LagRecorder} counts how
 * late attempts begin.
 */
@NullMarked
package io.timewheel.durable.internal.health;

import org.jspecify.annotations.NullMarked;
