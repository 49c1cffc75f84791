// SPDX-License-Identifier: Apache-2.0

/** The timers, what they promise, and the wheels that carry them. */
@NullMarked
package io.timewheel;

import org.jspecify.annotations.NullMarked;
