// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import io.timewheel.api.HeaderValue;
import io.timewheel.api.RawJson;
import io.timewheel.api.Retry;
import io.timewheel.api.TimerRequest;
import io.timewheel.server.settings.CommandException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;
import tools.jackson.core.JacksonException;

/** The options that describe a timer. */
final class TimerOptions {
  @ArgGroup(multiplicity = "1")
  private When when = new When();

  @ArgGroup(multiplicity = "1")
  private Where where = new Where();

  @Option(
      names = "--zone",
      paramLabel = "ZONE",
      description = "Time zone of --cron (default: UTC).")
  private @Nullable String zone;

  @Option(
      names = "--jitter",
      paramLabel = "DURATION",
      description = "Spread runs of --every or --cron over this time (max: 24h).")
  private @Nullable Duration jitter;

  @Option(
      names = "--until",
      paramLabel = "INSTANT",
      description = "End --every or --cron before this instant.")
  private @Nullable Instant until;

  @Option(names = "--times", paramLabel = "N", description = "End --every or --cron after N runs.")
  private @Nullable Long times;

  @Option(
      names = "--secret",
      paramLabel = "NAME",
      description = "Sign webhook requests with this secret.")
  private @Nullable String secret;

  @Option(
      names = "--target-header",
      paramLabel = "NAME=VALUE",
      description = "Send this header to --url; repeatable.")
  private Map<String, String> targetHeaders = new LinkedHashMap<>();

  @Option(
      names = "--target-header-secret",
      paramLabel = "NAME=SECRET",
      description = "Send this header with a secret's value; repeatable.")
  private Map<String, String> secretHeaders = new LinkedHashMap<>();

  @Option(
      names = "--timeout",
      paramLabel = "DURATION",
      description = "Limit webhook requests (default: 10s, max: 1m).")
  private @Nullable Duration timeout;

  @ArgGroup private @Nullable Payload payload;

  @Option(
      names = "--header",
      paramLabel = "NAME=VALUE",
      description = "Add this header to each firing; repeatable.")
  private Map<String, String> headers = new LinkedHashMap<>();

  @Option(
      names = "--max-attempts",
      paramLabel = "N",
      description = "Limit attempts of a run (default: 5, max: 1000).")
  private @Nullable Integer maxAttempts;

  @Option(
      names = "--backoff",
      paramLabel = "DURATION",
      description = "Delay the second attempt; doubles afterwards (default: 1s).")
  private @Nullable Duration backoff;

  @Option(
      names = "--max-backoff",
      paramLabel = "DURATION",
      description = "Limit the delay between attempts (default: 1m).")
  private @Nullable Duration maxBackoff;

  @Option(
      names = "--missed",
      paramLabel = "RULE",
      description = "Handle missed runs: fire_once, fire_all or skip (default: fire_once).")
  private @Nullable String missed;

  @Option(
      names = "--grace",
      paramLabel = "DURATION",
      description = "Treat runs with a longer lag as missed.")
  private @Nullable Duration grace;

  /** The options of the only run. */
  static class Once {
    @Option(
        names = "--after",
        paramLabel = "DURATION",
        description = "Fire after this delay, such as 30m.")
    @Nullable Duration after;

    @Option(
        names = "--at",
        paramLabel = "INSTANT",
        description = "Fire at this instant, such as 2026-12-01T09:00:00Z.")
    @Nullable Instant at;
  }

  /** The options of the schedule. */
  static final class When extends Once {
    @Option(
        names = "--every",
        paramLabel = "DURATION",
        description = "Fire at a fixed rate (min: 100ms).")
    private @Nullable Duration every;

    @Option(
        names = "--cron",
        paramLabel = "CRON",
        description = "Fire by a schedule, such as '0 9 * * MON-FRI'.")
    private @Nullable String cron;
  }

  /** The options of the target. */
  static final class Where {
    @Option(
        names = "--queue",
        paramLabel = "QUEUE",
        description = "Fire into this queue, for consumers.")
    private @Nullable String queue;

    @Option(names = "--url", paramLabel = "URL", description = "Post firings to this URL.")
    private @Nullable String url;
  }

  /** The options of the payload. */
  static final class Payload {
    @Option(names = "--payload", paramLabel = "JSON", description = "Set the payload (max: 64 KB).")
    private @Nullable String text;

    @Option(
        names = "--payload-file",
        paramLabel = "FILE",
        description = "Read the payload from this file (-: standard input).")
    private @Nullable Path file;
  }

  TimerRequest timer(Globals globals) {
    return new TimerRequest(
        when.after,
        when.at,
        when.every,
        when.cron,
        zone,
        jitter,
        until,
        times,
        new TimerRequest.Target(where.queue, where.url, secret, timeout, orNull(headerValues())),
        payload == null ? null : payload(globals, payload),
        maxAttempts == null && backoff == null && maxBackoff == null
            ? null
            : new Retry(maxAttempts, backoff, maxBackoff),
        missed,
        grace,
        orNull(headers));
  }

  private Map<String, HeaderValue> headerValues() {
    Map<String, HeaderValue> values = new LinkedHashMap<>();
    targetHeaders.forEach((name, text) -> values.put(name, HeaderValue.text(text)));
    secretHeaders.forEach((name, named) -> values.put(name, HeaderValue.secret(named)));
    return values;
  }

  private static <T> @Nullable Map<String, T> orNull(Map<String, T> texts) {
    return texts.isEmpty() ? null : texts;
  }

  private static RawJson payload(Globals globals, Payload payload) {
    try {
      String text = payload.text;
      if (payload.file != null) {
        text =
            payload.file.toString().equals("-")
                ? new String(System.in.readAllBytes(), StandardCharsets.UTF_8)
                : Files.readString(payload.file);
      }
      String json = text == null ? "null" : text;
      var unused = ApiClient.JSON.readTree(json); // invalid JSON is refused here
      return new RawJson(json);
    } catch (IOException e) {
      throw globals.usage("--payload-file: cannot be read: " + CommandException.reason(e));
    } catch (JacksonException e) {
      throw globals.usage("--payload: " + e.getOriginalMessage() + " (expected: JSON)");
    }
  }
}
