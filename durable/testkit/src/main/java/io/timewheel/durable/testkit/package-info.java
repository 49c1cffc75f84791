// SPDX-License-Identifier: Apache-2.0

/**
 * Provides durable timers on a clock that a test moves, the contract of stores, and the checker of
 * histories.
 */
@NullMarked
package io.timewheel.durable.testkit;

import org.jspecify.annotations.NullMarked;
