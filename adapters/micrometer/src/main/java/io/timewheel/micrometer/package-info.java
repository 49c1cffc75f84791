// SPDX-License-Identifier: Apache-2.0
/**
 * Publishes the statistics of a timer as Micrometer meters.
 *
 * <pre>{@code
 * Timer timer =
 *     HierarchicalWheelTimer.builder().listener(new LagMetrics(registry, "requests")).build();
 * new TimerMetrics(timer, "requests").bindTo(registry);
 * }</pre>
 *
 * {@link io.timewheel.micrometer.TimerMetrics} reads counts that every timer keeps, and so costs
 * the timer nothing. {@link io.timewheel.micrometer.LagMetrics} adds the distribution of the lag,
 * which costs one recording for each timeout that expires. Each works without the other.
 */
@NullMarked
package io.timewheel.micrometer;

import org.jspecify.annotations.NullMarked;
