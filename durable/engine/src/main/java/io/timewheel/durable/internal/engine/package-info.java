// SPDX-License-Identifier: Apache-2.0

/**
 * Connects, starts and ends all parts. The entry is {@link
 * io.timewheel.durable.internal.engine.Engine}. {@code StoreEvents} forwards notifications of the
 * store, and {@code Closing} ends the parts in order.
 */
@NullMarked
package io.timewheel.durable.internal.engine;

import org.jspecify.annotations.NullMarked;
