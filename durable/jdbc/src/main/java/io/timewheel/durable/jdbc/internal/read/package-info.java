// SPDX-License-Identifier: Apache-2.0

/**
 * Reads of timers. The entry is {@link io.timewheel.durable.jdbc.internal.read.TimerReader}. {@code
 * DueBounds} tracks where scans of due timers begin, and {@code Releasables} finds waiting timers
 * that may be released.
 */
@NullMarked
package io.timewheel.durable.jdbc.internal.read;

import org.jspecify.annotations.NullMarked;
