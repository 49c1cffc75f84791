// SPDX-License-Identifier: Apache-2.0

/**
 * The wiring of all parts, their start and their end. The entry is {@link
 * io.timewheel.durable.internal.engine.Engine}. {@code StoreEvents} passes notifications of the
 * store on, and {@code Closing} ends everything in order.
 */
@NullMarked
package io.timewheel.durable.internal.engine;

import org.jspecify.annotations.NullMarked;
