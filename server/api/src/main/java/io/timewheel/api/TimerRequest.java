// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A timer as a client sends it: exactly one of {@code after}, {@code at}, {@code every} and {@code
 * cron}, and a target. The server ignores the fields that only {@link TimerAnswer} has.
 *
 * @param after the delay from the arrival of the request
 * @param at the time of the only run
 * @param every the period
 * @param cron the cron expression
 * @param zone the time zone of {@code cron}; UTC if absent
 * @param jitter each run is later by one offset, which is shorter than this and depends on
 *     namespace and ID; only with {@code every} and {@code cron}
 * @param until no run is scheduled at this time or later; only with {@code every} and {@code cron}
 * @param times the number of runs after which the schedule ends; only with {@code every} and {@code
 *     cron}
 * @param target the queue or the URL
 * @param payload a JSON value of up to 64 KB
 * @param retry when a failed attempt is repeated
 * @param missed the rule for missed runs: {@code fire_once}, {@code fire_all} or {@code skip}
 * @param grace the lag after which a run is missed
 * @param headers texts that each firing contains
 */
@JsonIgnoreProperties({
  "namespace",
  "id",
  "version",
  "state",
  "dueAt",
  "fireAt",
  "attempt",
  "createdAt",
  "changedAt",
  "lastError",
  "lastTrace",
  "next",
  "attempts"
})
public record TimerRequest(
    @Nullable Duration after,
    @Nullable Instant at,
    @Nullable Duration every,
    @Nullable String cron,
    @Nullable String zone,
    @Nullable Duration jitter,
    @Nullable Instant until,
    @Nullable Long times,
    @Nullable Target target,
    @Nullable RawJson payload,
    @Nullable Retry retry,
    @Nullable String missed,
    @Nullable Duration grace,
    @JsonSetter(contentNulls = Nulls.FAIL) @Nullable Map<String, String> headers) {

  /**
   * Returns this timer with another payload.
   *
   * @param other the payload; null for none
   * @return the timer
   */
  public TimerRequest withPayload(@Nullable RawJson other) {
    return new TimerRequest(
        after, at, every, cron, zone, jitter, until, times, target, other, retry, missed, grace,
        headers);
  }

  /**
   * Returns this timer with a further header.
   *
   * @param name the name of the header
   * @param value the value, unless the timer has a header of this name; null for none
   * @return the timer
   */
  public TimerRequest withHeader(String name, @Nullable String value) {
    if (value == null) {
      return this;
    }
    Map<String, String> more = new LinkedHashMap<>(headers == null ? Map.of() : headers);
    more.putIfAbsent(name, value);
    return new TimerRequest(
        after, at, every, cron, zone, jitter, until, times, target, payload, retry, missed, grace,
        more);
  }

  /**
   * The target of a timer: a queue, or a URL with its secret.
   *
   * @param queue the name of the queue
   * @param url the URL of the webhook
   * @param secret the name of the secret that signs the webhook requests
   * @param timeout the longest duration of a webhook request
   * @param headers further headers of the webhook requests
   */
  public record Target(
      @Nullable String queue,
      @Nullable String url,
      @Nullable String secret,
      @Nullable Duration timeout,
      @JsonSetter(contentNulls = Nulls.FAIL) @Nullable Map<String, HeaderValue> headers) {}
}
