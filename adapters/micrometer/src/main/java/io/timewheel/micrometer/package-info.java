// SPDX-License-Identifier: Apache-2.0
/**
 * The figures of a timer as meters of Micrometer.
 *
 * <pre>{@code
 * Timer timer =
 *     HierarchicalWheelTimer.builder().listener(new LagMetrics(registry, "requests")).build();
 * new TimerMetrics(timer, "requests").bindTo(registry);
 * }</pre>
 *
 * {@link io.timewheel.micrometer.TimerMetrics} reads what a timer counts anyway and costs it
 * nothing; {@link io.timewheel.micrometer.LagMetrics} adds the distribution of the lag, which costs
 * a recording for each timeout that expires. Each works without the other.
 */
@NullMarked
package io.timewheel.micrometer;

import org.jspecify.annotations.NullMarked;
