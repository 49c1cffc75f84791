// SPDX-License-Identifier: Apache-2.0

/**
 * What the server bears. {@link io.timewheel.server.load.Load} starts it as a process of its own
 * with little memory, and loads it over loopback: with {@link io.timewheel.server.load.Wire}s, a
 * thread for each, and a {@link io.timewheel.server.load.Crowd}, one thread for all.
 */
@NullMarked
package io.timewheel.server.load;

import org.jspecify.annotations.NullMarked;
