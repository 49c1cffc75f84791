// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Timers that one request creates or replaces, each independently.
 *
 * @param timers 1 to 1,000 timers
 */
public record BatchRequest(List<BatchItem> timers) {
  /**
   * The results of a batch, in the order of its timers.
   *
   * @param results one for each timer
   */
  public record Answer(List<Result> results) {
    /**
     * The result of one timer: a version or an error.
     *
     * @param id the ID of the timer; absent if the server could not read it
     * @param status the HTTP status that a request for this timer alone would have
     * @param version the version of the timer
     * @param error the refusal
     */
    public record Result(
        @Nullable String id, int status, @Nullable Long version, @Nullable ProblemDetails error) {}
  }
}
