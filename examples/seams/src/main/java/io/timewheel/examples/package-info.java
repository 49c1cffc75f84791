// SPDX-License-Identifier: Apache-2.0

/** Example programs that use the timers. */
@NullMarked
package io.timewheel.examples;

import org.jspecify.annotations.NullMarked;
