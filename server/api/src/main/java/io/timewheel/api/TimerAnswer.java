// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A timer as the server returns it. A list omits {@code lastTrace}, {@code next} and {@code
 * attempts}.
 *
 * @param namespace the namespace
 * @param id the ID
 * @param version the version, which grows when the timer is replaced or moved, never when it fires
 * @param state the state
 * @param dueAt the time at which the timer is due
 * @param fireAt the time of the next attempt; absent if the timer does not wait for a time
 * @param attempt the number of attempts of this run
 * @param createdAt the time at which this version was created
 * @param changedAt the time of the last change
 * @param lastError the error of the last failed attempt
 * @param lastTrace the first lines of the stack trace of that error, if a handler threw it
 * @param cron the cron expression
 * @param zone the time zone of {@code cron}
 * @param every the period
 * @param fixedDelay the delay between two runs
 * @param jitter the limit of the offset of each run
 * @param until the time at which the schedule ends
 * @param times the number of runs after which the schedule ends
 * @param at the time of the only run
 * @param target the queue, the URL or the handler
 * @param retry when a failed attempt is repeated
 * @param missed the rule for missed runs
 * @param grace the lag after which a run is missed
 * @param headers texts that each firing contains
 * @param payload the payload
 * @param payloadBase64 the payload in Base64, if it is not JSON
 * @param next the next runs of a recurring timer
 * @param attempts the ended attempts
 */
public record TimerAnswer(
    String namespace,
    String id,
    long version,
    String state,
    Instant dueAt,
    @Nullable Instant fireAt,
    int attempt,
    Instant createdAt,
    Instant changedAt,
    @Nullable String lastError,
    @Nullable String lastTrace,
    @Nullable String cron,
    @Nullable String zone,
    @Nullable String every,
    @Nullable String fixedDelay,
    @Nullable Duration jitter,
    @Nullable Instant until,
    @Nullable Long times,
    @Nullable Instant at,
    Target target,
    Retry retry,
    String missed,
    Duration grace,
    Map<String, String> headers,
    @Nullable RawJson payload,
    @Nullable String payloadBase64,
    @Nullable List<Instant> next,
    @Nullable List<Attempt> attempts) {

  /**
   * The target of a timer: a queue, a URL or a handler.
   *
   * @param queue the name of the queue
   * @param url the URL of the webhook
   * @param secret the name of the secret that signs the webhook requests
   * @param timeout the longest duration of a webhook request
   * @param headers further headers of the webhook requests; secrets by their names
   * @param handler the name of the handler in an application
   */
  public record Target(
      @Nullable String queue,
      @Nullable String url,
      @Nullable String secret,
      @Nullable String timeout,
      @Nullable Map<String, HeaderValue> headers,
      @Nullable String handler) {}

  /**
   * An ended attempt.
   *
   * @param attempt its number, from 1
   * @param scheduledAt the scheduled time of the run
   * @param beganAt the time at which it was claimed
   * @param endedAt the time at which its end was recorded
   * @param end its result
   * @param error its error
   */
  public record Attempt(
      int attempt,
      Instant scheduledAt,
      Instant beganAt,
      Instant endedAt,
      String end,
      @Nullable String error) {}

  /**
   * A page of timers.
   *
   * @param timers the timers
   * @param nextPageToken the token of the next page; absent on the last page
   */
  public record Page(List<TimerAnswer> timers, @Nullable String nextPageToken) {}
}
