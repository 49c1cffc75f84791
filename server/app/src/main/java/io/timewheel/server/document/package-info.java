// SPDX-License-Identifier: Apache-2.0

/**
 * Converts the records of {@code io.timewheel.api} to those of the engine and back. The entry is
 * {@link io.timewheel.server.document.TimerSpecs}, which checks a timer that a client sends; {@code
 * TimerView} returns timers and firings, and {@code Preconditions} are those of a request. {@code
 * StatsView}, {@code WheelView} and {@code ClusterView} return the figures, the wheel and the
 * nodes.
 */
@NullMarked
package io.timewheel.server.document;

import org.jspecify.annotations.NullMarked;
