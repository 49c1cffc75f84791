// SPDX-License-Identifier: Apache-2.0

/** Programs that show the timers at work. */
@NullMarked
package io.timewheel.examples;

import org.jspecify.annotations.NullMarked;
