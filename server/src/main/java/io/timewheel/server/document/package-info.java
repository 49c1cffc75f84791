// SPDX-License-Identifier: Apache-2.0

/**
 * The JSON of timers and of figures. The entry is {@link
 * io.timewheel.server.document.TimerRequest}, a timer as a client sends it; {@code TimerView}
 * writes a timer, and both share {@code Target}. {@code StatsView}, {@code WheelView} and {@code
 * ClusterView} write the figures, the wheel and the nodes.
 */
@NullMarked
package io.timewheel.server.document;

import org.jspecify.annotations.NullMarked;
