// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.document;

import io.timewheel.durable.QueueFiring;
import io.timewheel.durable.TimerInfo;
import io.timewheel.durable.model.Attempt;
import io.timewheel.server.json.Json;
import io.timewheel.server.webhook.StoredTarget;
import java.time.Instant;
import java.util.Map;
import tools.jackson.core.JsonGenerator;

/** Timers and firings as JSON. */
public final class TimerView {
  private static final int NEXT_RUNS = 5;

  private TimerView() {}

  /** Writes all there is to say about a timer. */
  public static void whole(JsonGenerator json, TimerInfo timer) {
    json.writeStartObject();
    fields(json, timer);
    Json.payload(json, timer.payload());
    if (!timer.recurrence().isEmpty()) {
      json.writeArrayPropertyStart("next");
      timer.next(NEXT_RUNS).forEach(run -> json.writeString(run.toString()));
      json.writeEndArray();
    }
    json.writeArrayPropertyStart("attempts");
    timer.attempts().forEach(attempt -> attempt(json, attempt));
    json.writeEndArray();
    json.writeEndObject();
  }

  /** Writes what a list has of a timer. */
  public static void brief(JsonGenerator json, TimerInfo timer, boolean payload) {
    json.writeStartObject();
    fields(json, timer);
    if (payload) {
      Json.payload(json, timer.payload());
    }
    json.writeEndObject();
  }

  private static void fields(JsonGenerator json, TimerInfo timer) {
    json.writeStringProperty("namespace", timer.key().namespace());
    json.writeStringProperty("id", timer.key().id());
    json.writeNumberProperty("version", timer.version());
    json.writeStringProperty("state", Json.name(timer.state()));
    json.writeStringProperty("dueAt", timer.dueAt().toString());
    timer.fireAt().ifPresent(at -> json.writeStringProperty("fireAt", at.toString()));
    json.writeNumberProperty("attempt", timer.attempt());
    json.writeStringProperty("createdAt", timer.createdAt().toString());
    json.writeStringProperty("changedAt", timer.changedAt().toString());
    timer.lastError().ifPresent(error -> json.writeStringProperty("lastError", error));
    time(json, timer);
    Target.write(json, timer);
    json.writeObjectPropertyStart("retry");
    json.writeNumberProperty("maxAttempts", timer.retry().maxAttempts());
    json.writeStringProperty("backoff", timer.retry().backoff().toString());
    json.writeStringProperty("maxBackoff", timer.retry().maxBackoff().toString());
    json.writeEndObject();
    json.writeStringProperty("missed", Json.name(timer.missed()));
    json.writeStringProperty("grace", timer.grace().toString());
    texts(json, "headers", StoredTarget.userHeaders(timer.headers()));
  }

  /** As it was sent, but for a delay, which comes back as the time that it ended at. */
  private static void time(JsonGenerator json, TimerInfo timer) {
    String text = timer.recurrence();
    String rest = text.substring(text.indexOf(' ') + 1);
    if (text.startsWith("cron ")) {
      int zone = rest.lastIndexOf(' ');
      json.writeStringProperty("cron", rest.substring(0, zone));
      json.writeStringProperty("zone", rest.substring(zone + 1));
    } else if (text.startsWith("every ")) {
      json.writeStringProperty("every", rest);
    } else if (text.startsWith("delay ")) {
      json.writeStringProperty("fixedDelay", rest);
    } else {
      json.writeStringProperty("at", timer.dueAt().toString());
    }
  }

  private static void attempt(JsonGenerator json, Attempt attempt) {
    json.writeStartObject();
    json.writeNumberProperty("attempt", attempt.number());
    json.writeStringProperty("scheduledAt", instant(attempt.scheduledAtMillis()));
    json.writeStringProperty("beganAt", instant(attempt.beganAtMillis()));
    json.writeStringProperty("endedAt", instant(attempt.endedAtMillis()));
    json.writeStringProperty("end", Json.name(attempt.end()));
    if (attempt.error() != null) {
      json.writeStringProperty("error", attempt.error());
    }
    json.writeEndObject();
  }

  public static void firing(JsonGenerator json, QueueFiring claimed) {
    var firing = claimed.firing();
    json.writeStartObject();
    json.writeStringProperty("fireId", firing.fireId().toString());
    json.writeStringProperty("namespace", firing.namespace());
    json.writeStringProperty("id", firing.id());
    json.writeNumberProperty("version", firing.version());
    json.writeNumberProperty("attempt", firing.attempt());
    json.writeStringProperty("scheduledAt", firing.scheduledAt().toString());
    json.writeStringProperty("firedAt", firing.firedAt().toString());
    json.writeBooleanProperty("late", firing.isLate());
    Json.payload(json, firing.payload());
    texts(json, "headers", firing.headers());
    json.writeStringProperty("leaseToken", claimed.leaseToken());
    json.writeStringProperty("leasedUntil", claimed.leasedUntil().toString());
    json.writeEndObject();
  }

  static void texts(JsonGenerator json, String name, Map<String, String> texts) {
    json.writeObjectPropertyStart(name);
    texts.forEach(json::writeStringProperty);
    json.writeEndObject();
  }

  private static String instant(long millis) {
    return Instant.ofEpochMilli(millis).toString();
  }
}
