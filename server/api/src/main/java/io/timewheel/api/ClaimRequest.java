// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A claim of firings. The server has a default for each absent field.
 *
 * @param max the largest number of firings, from 1 to 1,000
 * @param leaseDuration the duration of the claim leases, from 1 s to 12 h
 * @param maxWait the longest wait for a first firing, up to 1 min
 */
public record ClaimRequest(
    @Nullable Integer max,
    @Nullable Duration leaseDuration,
    @JsonProperty("wait") @Nullable Duration maxWait) {
  /**
   * The claimed firings.
   *
   * @param firings none if the wait has ended
   */
  public record Answer(List<Firing> firings) {}
}
