// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import io.timewheel.durable.TimerInfo;
import io.timewheel.durable.TimerSpec;
import io.timewheel.server.webhook.WebhookTarget;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * What a timer is for: a queue, or a URL that is called.
 *
 * <p>A URL is stored as headers of a timer whose handler is named by {@link WebhookHandler}. Their
 * names begin with a colon, which those of users must not.
 */
final class Target {
  private static final String URL = ":url";
  private static final String SECRET = ":secret";
  private static final String TIMEOUT = ":timeout";
  private static final String HEADER = ":header-";

  private @Nullable String queue;
  private final Map<String, String> webhook = new LinkedHashMap<>();

  /** Reads a target. */
  static Target read(JsonReader json) {
    Target target = new Target();
    json.object(target::field);
    if ((target.queue == null) == (target.webhook.get(URL) == null)) {
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
      case "url" -> put(URL, value.string());
      case "secret" -> put(SECRET, value.string());
      case "timeout" -> {
        Duration timeout = value.duration();
        put(TIMEOUT, timeout == null ? null : timeout.toString());
      }
      case "headers" -> {
        Map<String, String> headers = value.texts();
        if (headers != null) {
          headers.forEach((header, text) -> put(HEADER + header, text));
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
    if (!secrets.test(webhook.getOrDefault(SECRET, ""))) {
      throw Problem.invalid( // does not say what was sent: it may be the secret itself
              "target.secret", "target.secret (expected: a name in the server's --webhook-secrets)")
          .failure();
    }
    try {
      return webhook(webhook);
    } catch (IllegalArgumentException e) {
      Problem problem = Problem.of(e);
      throw (problem.field() == null ? problem.at("target.url") : problem).failure();
    }
  }

  /** {@return the target that is stored in headers} */
  static WebhookTarget webhook(Map<String, String> stored) {
    Map<String, String> headers = new LinkedHashMap<>();
    stored.forEach(
        (name, value) -> {
          if (name.startsWith(HEADER)) {
            headers.put(name.substring(HEADER.length()), value);
          }
        });
    String timeout = stored.get(TIMEOUT);
    return new WebhookTarget(
        WebhookTarget.parseUrl(stored.getOrDefault(URL, "")),
        stored.getOrDefault(SECRET, ""),
        headers,
        timeout == null ? WebhookTarget.DEFAULT_TIMEOUT : Duration.parse(timeout));
  }

  static Map<String, String> userHeaders(Map<String, String> headers) {
    Map<String, String> users = new LinkedHashMap<>(headers);
    users.keySet().removeIf(name -> name.startsWith(":"));
    return users;
  }

  /** Writes a target; the values of its headers are never shown. */
  static void write(JsonGenerator json, TimerInfo timer) {
    json.writeObjectPropertyStart("target");
    timer.queue().ifPresent(name -> json.writeStringProperty("queue", name));
    String url = timer.headers().get(URL);
    if (url != null) {
      json.writeStringProperty("url", url);
      put(json, "secret", timer.headers().get(SECRET));
      put(json, "timeout", timer.headers().get(TIMEOUT));
      json.writeObjectPropertyStart("headers");
      for (String name : timer.headers().keySet()) {
        if (name.startsWith(HEADER)) {
          json.writeNullProperty(name.substring(HEADER.length()));
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
