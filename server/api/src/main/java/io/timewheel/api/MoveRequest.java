// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The new time of a timer: exactly one of the two.
 *
 * @param at the time
 * @param after the delay from the arrival of the request
 */
public record MoveRequest(@Nullable Instant at, @Nullable Duration after) {}
