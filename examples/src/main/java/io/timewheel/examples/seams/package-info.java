// SPDX-License-Identifier: Apache-2.0
/**
 * Other libraries with a timer of this one behind them: each takes a {@link
 * java.util.concurrent.ScheduledExecutorService}, and {@link
 * io.timewheel.concurrent.WheelScheduledExecutor} is one.
 */
@NullMarked
package io.timewheel.examples.seams;

import org.jspecify.annotations.NullMarked;
