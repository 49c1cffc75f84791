// SPDX-License-Identifier: Apache-2.0

/** Timers that survive the process. */
@NullMarked
package io.timewheel.durable;

import org.jspecify.annotations.NullMarked;
