// SPDX-License-Identifier: Apache-2.0

/**
 * Defines the values that the API and the SPI share. The entry is {@link
 * io.timewheel.durable.model.TimerKey}. {@code TimerState}, {@code Attempt} and {@code FireId}
 * describe a timer and its runs. The user chooses the {@code RetryPolicy} and {@code MissedRuns}. A
 * {@code Handler} gets a {@code Firing}.
 */
@NullMarked
package io.timewheel.durable.model;

import org.jspecify.annotations.NullMarked;
