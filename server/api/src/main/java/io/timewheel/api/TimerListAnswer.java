// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A page of timers.
 *
 * @param timers the timers
 * @param nextPageToken the token of the next page; absent on the last page
 */
public record TimerListAnswer(List<TimerAnswer> timers, @Nullable String nextPageToken) {}
