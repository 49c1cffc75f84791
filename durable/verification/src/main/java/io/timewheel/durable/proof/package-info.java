// SPDX-License-Identifier: Apache-2.0

/**
 * Attempts to make durable timers lose something.
 *
 * <p>A <em>child</em> is a JVM that schedules and fires on a store, and is killed. Its <em>log</em>
 * lies outside the store and holds what it was told and what it saw; the parent judges it. A
 * <em>round</em> is one child; a <em>life</em> is the rounds on one store, from empty to drained.
 */
@NullMarked
package io.timewheel.durable.proof;

import org.jspecify.annotations.NullMarked;
