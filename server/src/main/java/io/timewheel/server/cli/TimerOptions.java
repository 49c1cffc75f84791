// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import io.timewheel.api.HeaderValue;
import io.timewheel.api.RawJson;
import io.timewheel.api.Retry;
import io.timewheel.api.TimerRequest;
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

/** A timer as the options of a command describe it. */
final class TimerOptions {
  @ArgGroup(multiplicity = "1")
  private When when = new When();

  @ArgGroup(multiplicity = "1")
  private Where where = new Where();

  @Option(names = "--zone", paramLabel = "ZONE", description = "The zone of --cron (UTC).")
  private @Nullable String zone;

  @Option(
      names = "--jitter",
      paramLabel = "DURATION",
      description = "Spread runs of --every or --cron over this time (max: 24h).")
  private @Nullable Duration jitter;

  @Option(
      names = "--secret",
      paramLabel = "NAME",
      description = "Secret that signs webhook requests.")
  private @Nullable String secret;

  @Option(
      names = "--target-header",
      paramLabel = "NAME=VALUE",
      description = "Send this header with requests to --url.")
  private Map<String, String> targetHeaders = new LinkedHashMap<>();

  @Option(
      names = "--target-header-secret",
      paramLabel = "NAME=SECRET",
      description = "Send a secret of the server, by its name.")
  private Map<String, String> secretHeaders = new LinkedHashMap<>();

  @Option(names = "--timeout", paramLabel = "DURATION", description = "Of a call of --url.")
  private @Nullable Duration timeout;

  @ArgGroup private @Nullable Payload payload;

  @Option(names = "--header", paramLabel = "NAME=VALUE", description = "Comes with each firing.")
  private Map<String, String> headers = new LinkedHashMap<>();

  @Option(names = "--max-attempts", paramLabel = "N")
  private @Nullable Integer maxAttempts;

  @Option(names = "--backoff", paramLabel = "DURATION")
  private @Nullable Duration backoff;

  @Option(names = "--max-backoff", paramLabel = "DURATION")
  private @Nullable Duration maxBackoff;

  @Option(
      names = "--missed",
      paramLabel = "RULE",
      description = "fire_once, fire_all or skip: what becomes of runs that were missed.")
  private @Nullable String missed;

  @Option(names = "--grace", paramLabel = "DURATION", description = "Later than this is missed.")
  private @Nullable Duration grace;

  /** The schedule. */
  static final class When {
    @Option(names = "--after", paramLabel = "DURATION", description = "From now, as PT30M.")
    private @Nullable Duration after;

    @Option(names = "--at", paramLabel = "INSTANT", description = "As 2026-12-01T09:00:00Z.")
    private @Nullable Instant at;

    @Option(names = "--every", paramLabel = "DURATION", description = "At a fixed rate.")
    private @Nullable Duration every;

    @Option(names = "--cron", paramLabel = "CRON", description = "As '0 9 * * MON-FRI'.")
    private @Nullable String cron;
  }

  /** The target. */
  static final class Where {
    @Option(names = "--queue", paramLabel = "QUEUE", description = "Consumers claim it there.")
    private @Nullable String queue;

    @Option(names = "--url", paramLabel = "URL", description = "It is posted there.")
    private @Nullable String url;
  }

  /** The payload. */
  static final class Payload {
    @Option(names = "--payload", paramLabel = "JSON")
    private @Nullable String text;

    @Option(names = "--payload-file", paramLabel = "FILE", description = "- is standard input.")
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
      var unused = ApiClient.JSON.readTree(json); // or it is refused here
      return new RawJson(json);
    } catch (IOException e) {
      throw globals.usage("--payload-file: cannot be read: " + Timewheel.reason(e));
    } catch (JacksonException e) {
      throw globals.usage("--payload: " + e.getOriginalMessage() + " (expected: JSON)");
    }
  }
}
