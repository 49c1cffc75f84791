// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The results of a {@link LeaseBatch}, in the order of its firings.
 *
 * @param results one for each firing
 */
public record LeaseBatchAnswer(List<Result> results) {
  /**
   * The result of one firing.
   *
   * @param fireId the ID of the firing; absent if the server could not read it
   * @param status the HTTP status that a request for this firing alone would have
   * @param error the refusal; absent if the status is 200
   */
  public record Result(@Nullable String fireId, int status, @Nullable ProblemDetails error) {}
}
