// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.document;

import io.timewheel.durable.TimerInfo;
import io.timewheel.durable.TimerSpec;
import io.timewheel.server.json.JsonReader;
import io.timewheel.server.problem.Names;
import io.timewheel.server.problem.Problem;
import io.timewheel.server.webhook.StoredTarget;
import io.timewheel.server.webhook.WebhookHandler;
import io.timewheel.server.webhook.WebhookTarget;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/** The target of a timer in JSON: a queue, or a URL. */
final class Target {
  private @Nullable String queue;
  private final Map<String, String> webhook = new LinkedHashMap<>();

  /** Reads a target. */
  static Target read(JsonReader json) {
    Target target = new Target();
    json.object(target::field);
    if ((target.queue == null) == (target.webhook.get(StoredTarget.URL) == null)) {
      throw Problem.invalid("target", "target: expected exactly one of queue, url").failure();
    }
    if (target.queue != null && !target.webhook.isEmpty()) {
      throw Problem.invalid("target", "target: a queue has no secret, headers or timeout")
          .failure();
    }
    return target;
  }

  private boolean field(String name, JsonReader value) {
    switch (name) {
      case "queue" -> queue = value.string();
      case "url" -> put(StoredTarget.URL, value.string());
      case "secret" -> put(StoredTarget.SECRET, value.string());
      case "timeout" -> {
        Duration timeout = value.duration();
        put(StoredTarget.TIMEOUT, timeout == null ? null : timeout.toString());
      }
      case "headers" -> {
        Map<String, String> headers = value.texts();
        if (headers != null) {
          headers.forEach((header, text) -> put(StoredTarget.HEADER + header, text));
        }
      }
      default -> {
        return false;
      }
    }
    return true;
  }

  private void put(String name, @Nullable String value) {
    if (value != null) {
      webhook.put(name, value);
    }
  }

  /** Sets target and headers, which share a place in the store. */
  void apply(TimerSpec spec, Map<String, String> userHeaders, Predicate<String> secrets) {
    if (queue != null) {
      spec.queue(Names.checked("target.queue", queue)).headers(userHeaders);
    } else {
      WebhookTarget checked = checked(secrets);
      Map<String, String> all = new LinkedHashMap<>(webhook);
      all.putAll(userHeaders);
      spec.handler(WebhookHandler.nameFor(checked.origin())).headers(all);
    }
  }

  private WebhookTarget checked(Predicate<String> secrets) {
    if (!secrets.test(webhook.getOrDefault(StoredTarget.SECRET, ""))) {
      throw Problem.invalid( // does not say what was sent: it may be the secret itself
              "target.secret", "target.secret (expected: a name in the server's --webhook-secrets)")
          .failure();
    }
    try {
      return StoredTarget.of(webhook);
    } catch (IllegalArgumentException e) {
      Problem problem = Problem.of(e);
      throw (problem.field() == null ? problem.at("target.url") : problem).failure();
    }
  }

  /** Writes a target; the values of its headers are never shown. */
  static void write(JsonGenerator json, TimerInfo timer) {
    json.writeObjectPropertyStart("target");
    timer.queue().ifPresent(name -> json.writeStringProperty("queue", name));
    String url = timer.headers().get(StoredTarget.URL);
    if (url != null) {
      json.writeStringProperty("url", url);
      put(json, "secret", timer.headers().get(StoredTarget.SECRET));
      put(json, "timeout", timer.headers().get(StoredTarget.TIMEOUT));
      json.writeObjectPropertyStart("headers");
      for (String name : timer.headers().keySet()) {
        if (name.startsWith(StoredTarget.HEADER)) {
          json.writeNullProperty(name.substring(StoredTarget.HEADER.length()));
        }
      }
      json.writeEndObject();
    } else {
      timer.handler().ifPresent(name -> json.writeStringProperty("handler", name));
    }
    json.writeEndObject();
  }

  private static void put(JsonGenerator json, String name, @Nullable String value) {
    if (value != null) {
      json.writeStringProperty(name, value);
    }
  }
}
