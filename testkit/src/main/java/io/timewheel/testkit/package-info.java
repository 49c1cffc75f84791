// SPDX-License-Identifier: Apache-2.0

/** A timer and a clock that tests control, and the contract that every timer must keep. */
@NullMarked
package io.timewheel.testkit;

import org.jspecify.annotations.NullMarked;
