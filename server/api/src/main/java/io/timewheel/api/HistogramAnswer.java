// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

import java.time.Instant;
import java.util.List;

/**
 * The number of timers that are due in each span of time.
 *
 * @param buckets spans of equal length
 */
public record HistogramAnswer(List<Bucket> buckets) {
  /**
   * A span of time.
   *
   * @param from its beginning
   * @param to its end, exclusive
   * @param count the number of timers that are due in it
   */
  public record Bucket(Instant from, Instant to, long count) {}
}
