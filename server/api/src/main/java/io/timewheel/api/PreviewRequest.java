// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A schedule whose next runs a client requests: exactly one of {@code after}, {@code at}, {@code
 * every} and {@code cron}.
 *
 * @param after the delay from the arrival of the request
 * @param at the time of the only run
 * @param every the period
 * @param cron the cron expression
 * @param zone the time zone of {@code cron}; UTC if absent
 * @param jitter the jitter of the timer; needs {@code namespace} and {@code id}
 * @param until no run is scheduled at this time or later; only with {@code every} and {@code cron}
 * @param times the number of runs after which the schedule ends; only with {@code every} and {@code
 *     cron}
 * @param namespace the namespace of the timer, on which the offset of a jitter depends
 * @param id the ID of the timer, on which the offset of a jitter depends
 * @param count the maximum number of runs, from 1 to 1,000; 5 if absent
 */
public record PreviewRequest(
    @Nullable Duration after,
    @Nullable Instant at,
    @Nullable Duration every,
    @Nullable String cron,
    @Nullable String zone,
    @Nullable Duration jitter,
    @Nullable Instant until,
    @Nullable Long times,
    @Nullable String namespace,
    @Nullable String id,
    @Nullable Integer count) {
  /**
   * The runs of a schedule.
   *
   * @param next the times of the next runs
   */
  public record Answer(List<Instant> next) {}
}
