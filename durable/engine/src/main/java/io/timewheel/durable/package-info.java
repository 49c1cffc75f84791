// SPDX-License-Identifier: Apache-2.0

/**
 * Durable timers: acknowledged when they are safe in a store, and fired at least once from then on.
 *
 * <p>{@link io.timewheel.durable.DurableTimer} is where to begin.
 */
@NullMarked
package io.timewheel.durable;

import org.jspecify.annotations.NullMarked;
