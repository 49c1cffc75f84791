// SPDX-License-Identifier: Apache-2.0

/**
 * Measures the load that the server sustains. {@link io.timewheel.server.load.Load} starts it as a
 * separate process with little memory, and loads it over loopback. A {@link
 * io.timewheel.server.load.Wire} is a connection with its own thread; one thread serves all
 * connections of a {@link io.timewheel.server.load.Crowd}.
 */
@NullMarked
package io.timewheel.server.load;

import org.jspecify.annotations.NullMarked;
