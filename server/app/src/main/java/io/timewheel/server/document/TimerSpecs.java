// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.document;

import static java.util.Objects.requireNonNullElse;

import io.timewheel.api.ApiJson;
import io.timewheel.api.PreviewRequest;
import io.timewheel.api.RawJson;
import io.timewheel.api.Retry;
import io.timewheel.api.TimerRequest;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.server.json.Json;
import io.timewheel.server.json.JsonReader;
import io.timewheel.server.problem.Names;
import io.timewheel.server.problem.Problem;
import io.timewheel.server.webhook.ConfiguredSecret;
import io.timewheel.server.webhook.DeliveryName;
import io.timewheel.server.webhook.SecretSource;
import io.timewheel.server.webhook.StoredTarget;
import io.timewheel.server.webhook.WebhookTarget;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Converts a timer that a client sends to a request to the engine. */
public final class TimerSpecs {
  private static final int MAX_PAYLOAD = 64 * 1024;

  private TimerSpecs() {}

  /**
   * {@return the request to the engine, which checks the rest}
   *
   * @param now the present time, from which {@code after} and {@code every} count
   */
  public static TimerSpec of(
      String namespace, String id, TimerRequest timer, SecretSource secrets, Instant now) {
    return unfinished(namespace, id, timer, secrets, now).evenIfFinished();
  }

  /** {@return the same request, which ignores a finished timer of the same ID} */
  static TimerSpec unfinished(
      String namespace, String id, TimerRequest timer, SecretSource secrets, Instant now) {
    TimerSpec spec = TimerSpec.of(namespace, id);
    payload(spec, timer.payload());
    time(spec, timer, now);
    target(spec, timer.target(), userHeaders(timer), secrets);
    missedRuns(spec, timer);
    return spec.retry(retry(timer.retry()));
  }

  /**
   * {@return a timer with this schedule, for computing its runs} The offset of a jitter depends on
   * the key, so a schedule with a jitter needs a key.
   */
  public static TimerSpec schedule(PreviewRequest schedule, Instant now) {
    TimerSpec spec =
        TimerSpec.of(
                keyPart("namespace", schedule.namespace(), schedule.jitter()),
                keyPart("id", schedule.id(), schedule.jitter()))
            .queue("preview");
    ObjectNode timer = Json.tree(schedule);
    timer.remove(List.of("namespace", "id", "count"));
    time(spec, JsonReader.read(Json.text(timer), TimerRequest.class), now);
    return spec;
  }

  private static String keyPart(String field, @Nullable String sent, @Nullable Duration jitter) {
    if (sent != null) {
      return Names.checked(field, sent);
    }
    if (jitter != null) {
      throw Problem.missing(field, "that of the timer, for the offset of its jitter");
    }
    return "preview";
  }

  private static void payload(TimerSpec spec, @Nullable RawJson sent) {
    if (sent != null) {
      byte[] payload = sent.text().getBytes(StandardCharsets.UTF_8);
      checkPayload(payload.length);
      spec.payload(payload);
    }
  }

  static void checkPayload(int bytes) {
    if (bytes > MAX_PAYLOAD) {
      throw Problem.tooLarge("payload", MAX_PAYLOAD).at("payload").failure();
    }
  }

  private static void time(TimerSpec spec, TimerRequest timer, Instant now) {
    Duration after = timer.after();
    Instant at = timer.at();
    Duration every = timer.every();
    String cron = timer.cron();
    int kinds = 0;
    for (Object kind : new Object[] {after, at, every, cron}) {
      kinds += kind == null ? 0 : 1;
    }
    if (kinds != 1) {
      throw Problem.invalid("at", "expected exactly one of after, at, every, cron").failure();
    }
    if (cron != null) {
      ZoneId zone = zone(timer.zone());
      checked("cron", () -> spec.cron(cron, zone));
    } else if (timer.zone() != null) {
      throw Problem.invalid("zone", "zone: only allowed with cron").failure();
    } else if (after != null) {
      spec.after(checkedAfter(after, now));
    } else if (at != null) {
      spec.at(at);
    } else if (every != null) {
      checkEndsInTime("every", every, now);
      checked("every", () -> spec.every(every));
    }
    recurring(spec, timer, now);
  }

  private static void recurring(TimerSpec spec, TimerRequest timer, Instant now) {
    Duration jitter = timer.jitter();
    String end = timer.until() != null ? "until" : timer.times() != null ? "times" : null;
    String field = jitter != null ? "jitter" : end;
    if (field != null && timer.every() == null && timer.cron() == null) {
      throw Problem.invalid(field, field + ": only allowed with every or cron").failure();
    }
    if (jitter != null) {
      if (timer.every() != null && jitter.compareTo(timer.every()) <= 0) {
        checkEndsInTime("every", timer.every().plus(jitter), now);
      }
      spec.jitter(jitter);
    }
    if (timer.until() != null) {
      spec.until(timer.until());
    }
    if (timer.times() != null) {
      spec.times(timer.times());
    }
  }

  /**
   * {@return the delay, checked}
   *
   * @throws Problem.Failure if it is negative, or ends after the year 9999
   */
  public static Duration checkedAfter(Duration after, Instant now) {
    if (after.isNegative()) {
      throw Problem.invalid("after", "after: " + after + " is negative (minimum: PT0S)").failure();
    }
    checkEndsInTime("after", after, now);
    return after;
  }

  private static void checkEndsInTime(String field, Duration delay, Instant now) {
    if (delay.compareTo(Duration.between(now, ApiJson.LATEST)) > 0) {
      throw Problem.invalid(
              field, field + ": " + delay + " is too long (latest time: " + ApiJson.LATEST + ")")
          .failure();
    }
  }

  /**
   * Runs a check of the engine, and replaces the argument in its message with the field of the
   * request.
   */
  private static void checked(String field, Runnable setting) {
    try {
      setting.run();
    } catch (IllegalArgumentException e) {
      throw Problem.argument(e).at(field).failure();
    }
  }

  private static ZoneId zone(@Nullable String zone) {
    try {
      return ZoneId.of(requireNonNullElse(zone, "UTC"));
    } catch (RuntimeException e) {
      throw Problem.invalid("zone", "zone: " + zone + " (expected: such as Europe/Berlin)")
          .failure();
    }
  }

  /**
   * Checks the rule for missed runs. For a timer that fires once, the rule has no effect, because
   * it misses no run.
   */
  private static void missedRuns(TimerSpec spec, TimerRequest timer) {
    MissedRuns missed = missed(timer.missed());
    Duration grace = timer.grace();
    if (grace != null && grace.isNegative()) {
      throw Problem.invalid("grace", "grace: " + grace + " (expected: zero or more)").failure();
    }
    if (timer.every() != null || timer.cron() != null) {
      spec.missed(missed);
    }
    if (grace != null) {
      spec.grace(grace);
    }
  }

  private static MissedRuns missed(@Nullable String text) {
    for (MissedRuns rule : MissedRuns.values()) {
      if (text == null || Json.name(rule).equals(text)) {
        return text == null ? MissedRuns.FIRE_ONCE : rule;
      }
    }
    throw Problem.invalid("missed", "missed: " + text + " (expected: fire_once, fire_all or skip)")
        .failure();
  }

  private static RetryPolicy retry(@Nullable Retry retry) {
    RetryPolicy absent = RetryPolicy.DEFAULT;
    if (retry == null) {
      return absent;
    }
    int maxAttempts = requireNonNullElse(retry.maxAttempts(), absent.maxAttempts());
    Duration backoff = requireNonNullElse(retry.backoff(), absent.backoff());
    Duration longest = absent.maxBackoff();
    Duration maxBackoff =
        requireNonNullElse(retry.maxBackoff(), backoff.compareTo(longest) > 0 ? backoff : longest);
    try {
      return new RetryPolicy(maxAttempts, backoff, maxBackoff);
    } catch (IllegalArgumentException e) {
      Problem problem = Problem.argument(e);
      throw problem.at("retry." + problem.field()).failure();
    }
  }

  private static Map<String, String> userHeaders(TimerRequest timer) {
    Map<String, String> headers = requireNonNullElse(timer.headers(), Map.of());
    for (String name : headers.keySet()) {
      if (name.startsWith(":")) {
        throw Problem.invalid("headers", "headers: " + name + " (expected: no colon in front)")
            .failure();
      }
    }
    return headers;
  }

  /** Sets the target and the headers, which the store keeps together. */
  private static void target(
      TimerSpec spec,
      TimerRequest.@Nullable Target target,
      Map<String, String> userHeaders,
      SecretSource secrets) {
    if (target == null) {
      throw Problem.missing("target", "a queue or a url");
    }
    Map<String, String> webhook = webhook(target);
    String queue = target.queue();
    if ((queue == null) == (target.url() == null)) {
      throw Problem.invalid("target", "target: expected exactly one of queue, url").failure();
    }
    if (queue == null) {
      WebhookTarget checked = checked(spec.key().namespace(), webhook, secrets);
      webhook.putAll(userHeaders);
      spec.handler(DeliveryName.handler(checked.host(), spec.key().namespace())).headers(webhook);
    } else if (webhook.isEmpty()) {
      spec.queue(Names.checked("target.queue", queue)).headers(userHeaders);
    } else {
      throw Problem.invalid("target", "target: a queue has no secret, headers or timeout")
          .failure();
    }
  }

  private static Map<String, String> webhook(TimerRequest.Target target) {
    Map<String, String> webhook = new LinkedHashMap<>();
    put(webhook, StoredTarget.URL, target.url());
    put(webhook, StoredTarget.SECRET, target.secret());
    put(webhook, StoredTarget.TIMEOUT, target.timeout());
    if (target.headers() != null) {
      target.headers().forEach((name, value) -> StoredTarget.putHeader(webhook, name, value));
    }
    return webhook;
  }

  private static void put(Map<String, String> webhook, String name, @Nullable Object value) {
    if (value != null) {
      webhook.put(name, value.toString());
    }
  }

  private static WebhookTarget checked(
      String namespace, Map<String, String> webhook, SecretSource secrets) {
    WebhookTarget target;
    try {
      target = StoredTarget.of(webhook);
    } catch (IllegalArgumentException e) {
      Problem problem = Problem.argument(e);
      throw (problem.field() == null ? problem.at("target.url") : problem).failure();
    }
    ConfiguredSecret signing = secrets.find(target.secret());
    if (signing == null
        || signing.keys().isEmpty()
        || !signing.admits(namespace, target.origin())) {
      throw noSecret("target.secret");
    }
    target
        .headers()
        .forEach(
            (name, value) -> {
              ConfiguredSecret secret =
                  value.secret() == null ? null : secrets.find(value.secret());
              if (value.secret() != null
                  && (secret == null || !secret.admits(namespace, target.origin()))) {
                throw noSecret("target.headers." + name);
              }
            });
    return target;
  }

  /** Returns the problem without the name that was sent, because that may be the secret itself. */
  private static Problem.Failure noSecret(String field) {
    return Problem.invalid(
            field,
            field
                + " (expected: a name in the server's --webhook-secrets, for this namespace,"
                + " scheme, host and port; one without host= needs the role admin)")
        .failure();
  }
}
