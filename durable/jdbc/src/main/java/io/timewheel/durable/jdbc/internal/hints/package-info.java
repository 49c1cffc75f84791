// SPDX-License-Identifier: Apache-2.0

/**
 * Hints, by which nodes notify each other. The entry is {@link
 * io.timewheel.durable.jdbc.internal.hints.HintChannel}, which sends and receives. {@code Hints} is
 * the text of a hint, and {@code HintThread} waits for hints of other nodes.
 */
@NullMarked
package io.timewheel.durable.jdbc.internal.hints;

import org.jspecify.annotations.NullMarked;
