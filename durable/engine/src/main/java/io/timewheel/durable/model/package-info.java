// SPDX-License-Identifier: Apache-2.0

/**
 * The values that the API and the SPI share. The entry is {@link
 * io.timewheel.durable.model.TimerKey}. {@code TimerState}, {@code Attempt} and {@code FireId}
 * describe a timer and its runs; {@code RetryPolicy} and {@code MissedRuns} are chosen by the user;
 * a {@code Handler} gets a {@code Firing}.
 */
@NullMarked
package io.timewheel.durable.model;

import org.jspecify.annotations.NullMarked;
