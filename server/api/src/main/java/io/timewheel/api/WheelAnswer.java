// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The waiting timers by their due time, as levels of slots.
 *
 * @param now the time of the node
 * @param window the span of the timers in memory
 * @param inMemory the number of timers in memory
 * @param overdue the number of timers that were due before the first slot
 * @param levels the levels, the finest first
 * @param beyond the number of timers that are due after the last slot
 */
public record WheelAnswer(
    Instant now,
    @Nullable Duration window,
    long inMemory,
    long overdue,
    List<Level> levels,
    long beyond) {

  /**
   * A level.
   *
   * @param name its name, such as {@code minute}
   * @param slot the length of its slots in ISO 8601
   * @param from the beginning of its first slot
   * @param asOf the time at which its timers were counted
   * @param counts the number of timers in each slot
   */
  public record Level(String name, String slot, Instant from, Instant asOf, List<Long> counts) {}
}
