// SPDX-License-Identifier: Apache-2.0
/**
 * The soak: millions of timeouts on the real clock for as long as wanted, with everything going
 * wrong that can, and the fate of every single timeout accounted for.
 *
 * <p>It uses the public API only. {@link io.timewheel.soak.Soak} is the entry point; {@link
 * io.timewheel.soak.SoakTask} knows what may become of a timeout.
 */
@NullMarked
package io.timewheel.soak;

import org.jspecify.annotations.NullMarked;
