// SPDX-License-Identifier: Apache-2.0

/**
 * Durable timers on a clock that a test moves, the contract of their stores, and the checker of
 * their histories.
 */
@NullMarked
package io.timewheel.durable.testkit;

import org.jspecify.annotations.NullMarked;
