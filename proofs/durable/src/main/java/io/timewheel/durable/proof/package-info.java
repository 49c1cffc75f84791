// SPDX-License-Identifier: Apache-2.0

/**
 * Tests that try to make durable timers lose data.
 *
 * <p>A <em>child</em> is a JVM that schedules and fires timers on a store, and is killed. Its
 * <em>log</em> is outside the store, and contains its calls, results and observations. The parent
 * judges the log. A <em>round</em> is one child. A <em>life</em> is the rounds on one store, from
 * empty to drained.
 */
@NullMarked
package io.timewheel.durable.proof;

import org.jspecify.annotations.NullMarked;
