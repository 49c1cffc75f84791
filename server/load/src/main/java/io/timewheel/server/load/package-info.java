// SPDX-License-Identifier: Apache-2.0

/**
 * Measures the load that the server sustains. {@link io.timewheel.server.load.Load} starts it as a
 * separate process with little memory, and loads it over loopback: with {@link
 * io.timewheel.server.load.Wire}s, one thread each, and with a {@link
 * io.timewheel.server.load.Crowd}, one thread for all.
 */
@NullMarked
package io.timewheel.server.load;

import org.jspecify.annotations.NullMarked;
