// SPDX-License-Identifier: Apache-2.0
/**
 * The soak test. It runs millions of timeouts on the real clock for a given time, injects faults,
 * and checks the outcome of every timeout.
 *
 * <p>It uses only the public API. {@link io.timewheel.soak.Soak} is the entry point; {@link
 * io.timewheel.soak.SoakTask} lists the possible outcomes of a timeout.
 */
@NullMarked
package io.timewheel.soak;

import org.jspecify.annotations.NullMarked;
