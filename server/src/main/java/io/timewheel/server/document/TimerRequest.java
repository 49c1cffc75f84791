// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.document;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.server.json.Json;
import io.timewheel.server.json.JsonReader;
import io.timewheel.server.problem.Problem;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A timer as it is sent. Fields that only answers have are passed over. */
public final class TimerRequest {
  private static final Set<String> RETURNED_ONLY =
      Set.of(
          "namespace",
          "version",
          "state",
          "dueAt",
          "fireAt",
          "attempt",
          "createdAt",
          "changedAt",
          "lastError",
          "next",
          "attempts");
  private static final int MAX_PAYLOAD = 64 * 1024;

  private final boolean inBatch;
  private @Nullable Duration after;
  private @Nullable Instant at;
  private @Nullable Duration every;
  private @Nullable String cron;
  private @Nullable String zone;
  private @Nullable Target target;
  private byte @Nullable [] payload;
  private RetryPolicy retry = RetryPolicy.DEFAULT;
  private MissedRuns missed = MissedRuns.FIRE_ONCE;
  private @Nullable Duration grace;
  private Map<String, String> headers = Map.of();
  private @Nullable String id;
  private @Nullable String ifMatch;
  private @Nullable String ifNoneMatch;

  private TimerRequest(boolean inBatch) {
    this.inBatch = inBatch;
  }

  public static TimerRequest read(String body) {
    TimerRequest request = new TimerRequest(false);
    JsonReader.document(body, request::field);
    return request;
  }

  /** Reads an item of a batch, which may carry its preconditions. */
  public static TimerRequest readItem(String item) {
    TimerRequest request = new TimerRequest(true);
    JsonReader.document(item, request::field);
    return request;
  }

  private boolean field(String name, JsonReader value) {
    switch (name) {
      case "after" -> after = value.duration();
      case "at" -> at = value.instant();
      case "every" -> every = value.duration();
      case "cron" -> cron = value.string();
      case "zone" -> zone = value.string();
      case "target" -> target = value.isNull() ? null : Target.read(value);
      case "payload" -> {
        payload = value.raw().getBytes(StandardCharsets.UTF_8);
        if (payload.length > MAX_PAYLOAD) {
          throw Problem.tooLarge("payload", MAX_PAYLOAD).at("payload").failure();
        }
      }
      case "retry" -> {
        if (!value.isNull()) {
          retry(value);
        }
      }
      case "missed" -> missed(value.string());
      case "grace" -> grace = value.duration();
      case "headers" -> headers(value.texts());
      case "id" -> {
        if (!inBatch) {
          return value.ignore(); // the path has it
        }
        id = value.string();
      }
      case "ifMatch", "ifNoneMatch" -> {
        if (!inBatch) {
          return false;
        }
        if (name.equals("ifMatch")) {
          ifMatch = value.isInteger() ? "\"" + value.integer() + "\"" : value.string();
        } else {
          ifNoneMatch = value.string();
        }
      }
      default -> {
        return RETURNED_ONLY.contains(name) && value.ignore();
      }
    }
    return true;
  }

  private void retry(JsonReader json) {
    Long[] attempts = new Long[1];
    Duration[] waits = new Duration[2];
    json.object(
        (name, value) -> {
          switch (name) {
            case "maxAttempts" -> attempts[0] = value.integer();
            case "backoff" -> waits[0] = value.duration();
            case "maxBackoff" -> waits[1] = value.duration();
            default -> {
              return false;
            }
          }
          return true;
        });
    long maxAttempts = attempts[0] == null ? RetryPolicy.DEFAULT.maxAttempts() : attempts[0];
    Duration backoff = waits[0] == null ? RetryPolicy.DEFAULT.backoff() : waits[0];
    Duration longest = RetryPolicy.DEFAULT.maxBackoff();
    Duration maxBackoff =
        waits[1] != null ? waits[1] : backoff.compareTo(longest) > 0 ? backoff : longest;
    try {
      int clamped = (int) Math.max(-1, Math.min(maxAttempts, Integer.MAX_VALUE));
      retry = new RetryPolicy(clamped, backoff, maxBackoff);
    } catch (IllegalArgumentException e) {
      Problem problem = Problem.of(e);
      throw problem.at("retry." + problem.field()).failure();
    }
  }

  private void missed(@Nullable String text) {
    for (MissedRuns rule : MissedRuns.values()) {
      if (Json.name(rule).equals(text)) {
        missed = rule;
        return;
      }
    }
    if (text != null) {
      throw Problem.invalid(
              "missed", "missed: " + text + " (expected: fire_once, fire_all or skip)")
          .failure();
    }
  }

  private void headers(@Nullable Map<String, String> texts) {
    if (texts == null) {
      return;
    }
    for (String name : texts.keySet()) {
      if (name.startsWith(":")) {
        throw Problem.invalid("headers", "headers: " + name + " (expected: no colon in front)")
            .failure();
      }
    }
    headers = texts;
  }

  public @Nullable String id() {
    return id;
  }

  public @Nullable String ifMatch() {
    return ifMatch;
  }

  public @Nullable String ifNoneMatch() {
    return ifNoneMatch;
  }

  /**
   * {@return what the engine is asked for; it checks the rest}
   *
   * @param secrets whether webhooks can be signed by a name
   */
  public TimerSpec spec(String namespace, String id, Predicate<String> secrets) {
    TimerSpec spec = TimerSpec.of(namespace, id);
    time(spec);
    if (target == null) {
      throw Problem.invalid("target", "target: none (expected: a queue or a url)").failure();
    }
    if (payload != null) {
      spec.payload(payload);
    }
    target.apply(spec, headers, secrets);
    missedRuns(spec);
    return spec.retry(retry).evenIfFinished();
  }

  /** A timer that fires once misses no run: a rule for them is checked, and has no effect. */
  private void missedRuns(TimerSpec spec) {
    if (grace != null && grace.isNegative()) {
      throw Problem.invalid("grace", "grace: " + grace + " (expected: zero or more)").failure();
    }
    if (every != null || cron != null) {
      spec.missed(missed);
    }
    if (grace != null) {
      spec.grace(grace);
    }
  }

  private void time(TimerSpec spec) {
    int kinds = 0;
    for (Object kind : new Object[] {after, at, every, cron}) {
      kinds += kind == null ? 0 : 1;
    }
    if (kinds != 1) {
      throw Problem.invalid("at", "expected exactly one of after, at, every, cron").failure();
    }
    if (cron != null) {
      ZoneId in = zone();
      checked("cron", () -> spec.cron(requireNonNull(cron), in));
    } else if (zone != null) {
      throw Problem.invalid("zone", "zone: only a cron has one").failure();
    } else if (after != null) {
      spec.after(after);
    } else if (at != null) {
      spec.at(at);
    } else if (every != null) {
      checked("every", () -> spec.every(requireNonNull(every)));
    }
  }

  /** The engine names its argument, which is not always that of the request. */
  private static void checked(String field, Runnable setting) {
    try {
      setting.run();
    } catch (IllegalArgumentException e) {
      throw Problem.of(e).at(field).failure();
    }
  }

  private ZoneId zone() {
    try {
      return ZoneId.of(zone == null ? "UTC" : zone);
    } catch (RuntimeException e) {
      throw Problem.invalid("zone", "zone: " + zone + " (expected: such as Europe/Berlin)")
          .failure();
    }
  }
}
