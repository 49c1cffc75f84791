// SPDX-License-Identifier: Apache-2.0

/** A timer that a test moves by hand, and the contract that every timer must keep. */
@NullMarked
package io.timewheel.testkit;

import org.jspecify.annotations.NullMarked;
