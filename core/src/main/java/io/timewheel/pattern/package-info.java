// SPDX-License-Identifier: Apache-2.0
/**
 * What timers are used for, ready-made. Everything here is built on the public timer and works with
 * any {@link io.timewheel.Timer}, one without a thread included.
 *
 * @see io.timewheel.pattern.Expirations
 */
@NullMarked
package io.timewheel.pattern;

import org.jspecify.annotations.NullMarked;
