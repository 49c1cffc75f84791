// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.annotation.JsonDeserialize;

/**
 * A timer in a batch: the fields of a {@link TimerRequest}, its ID and its preconditions.
 *
 * @param id the ID of the timer
 * @param ifMatch the version that the timer must have, quoted or as a number
 * @param ifNoneMatch {@code *} if the timer must not exist
 * @param after the delay from the arrival of the request
 * @param at the time of the only run
 * @param every the period
 * @param cron the cron expression
 * @param zone the time zone of {@code cron}; UTC if absent
 * @param jitter the limit of the offset of each run; only with {@code every} and {@code cron}
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
public record BatchItem(
    @Nullable String id,
    @JsonDeserialize(using = VersionDeserializer.class) @Nullable String ifMatch,
    @Nullable String ifNoneMatch,
    @Nullable Duration after,
    @Nullable Instant at,
    @Nullable Duration every,
    @Nullable String cron,
    @Nullable String zone,
    @Nullable Duration jitter,
    @Nullable Instant until,
    @Nullable Long times,
    TimerRequest.@Nullable Target target,
    @Nullable RawJson payload,
    @Nullable Retry retry,
    @Nullable String missed,
    @Nullable Duration grace,
    @JsonSetter(contentNulls = Nulls.FAIL) @Nullable Map<String, String> headers) {

  /**
   * Makes an item without preconditions.
   *
   * @param id the ID of the timer
   * @param timer the timer
   * @return the item
   */
  public static BatchItem of(String id, TimerRequest timer) {
    return new BatchItem(
        id,
        null,
        null,
        timer.after(),
        timer.at(),
        timer.every(),
        timer.cron(),
        timer.zone(),
        timer.jitter(),
        timer.until(),
        timer.times(),
        timer.target(),
        timer.payload(),
        timer.retry(),
        timer.missed(),
        timer.grace(),
        timer.headers());
  }

  /**
   * Returns the item without its ID and preconditions.
   *
   * @return the timer
   */
  public TimerRequest timer() {
    return new TimerRequest(
        after, at, every, cron, zone, jitter, until, times, target, payload, retry, missed, grace,
        headers);
  }

  /** Reads a version as an entity tag: a number becomes a quoted one. */
  static final class VersionDeserializer extends ValueDeserializer<String> {
    @Override
    public String deserialize(JsonParser parser, DeserializationContext context) {
      return switch (parser.currentToken()) {
        case VALUE_NUMBER_INT -> "\"" + parser.getLongValue() + "\"";
        case VALUE_STRING -> parser.getString();
        default -> (String) context.handleUnexpectedToken(String.class, parser);
      };
    }
  }
}
