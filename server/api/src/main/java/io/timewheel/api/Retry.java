// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * When a failed attempt is repeated. The server has a default for each absent field.
 *
 * @param maxAttempts the largest number of attempts, from 1 to 1,000
 * @param backoff the delay after the first attempt
 * @param maxBackoff the longest delay
 */
public record Retry(
    @Nullable Integer maxAttempts, @Nullable Duration backoff, @Nullable Duration maxBackoff) {}
