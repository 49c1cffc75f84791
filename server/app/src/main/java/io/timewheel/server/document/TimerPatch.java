// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.document;

import io.timewheel.api.RawJson;
import io.timewheel.api.TimerRequest;
import io.timewheel.durable.TimerInfo;
import io.timewheel.durable.TimerSpec;
import io.timewheel.server.json.Json;
import io.timewheel.server.json.JsonReader;
import io.timewheel.server.problem.Problem;
import io.timewheel.server.webhook.SecretSource;
import java.time.Instant;
import java.util.List;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.POJONode;

/**
 * Applies a JSON merge patch (RFC 7396) to a timer. Null removes a field, and an object is merged
 * into the present one. Other values keep their text. A new kind of time, or of target, replaces
 * the present one.
 */
public final class TimerPatch {
  private static final String PAYLOAD = "payload";
  private static final String TARGET = "target";
  private static final String HANDLER = "handler";
  private static final List<String> TIMES = List.of("after", "at", "every", "cron");

  /** Fields that only a recurring timer has. */
  private static final List<String> RECURRING = List.of("jitter", "until", "times");

  /** Fields of answers only, which are unknown in a request. */
  private static final List<String> RETURNED = List.of("fixedDelay", "payloadBase64", PAYLOAD);

  private TimerPatch() {}

  /**
   * {@return the request for the patched timer}
   *
   * @param memory called with the memory of the patch, in parts
   */
  public static TimerSpec apply(
      TimerInfo timer, String text, SecretSource secrets, Instant now, LongConsumer memory) {
    ObjectNode patch = JsonReader.tree(text, JsonReader.MAX_NAMES, PAYLOAD, memory);
    JsonNode payload = patch.remove(PAYLOAD);
    ObjectNode document = Json.tree(TimerView.brief(timer, false));
    document.remove(RETURNED);
    replaceTime(document, patch);
    replaceTarget(document, patch);
    merge(document, patch);
    if (document.path(TARGET).has(HANDLER)) {
      throw Problem.invalid(
              TARGET, "target: a handler of an application (expected: a queue or a url instead)")
          .failure();
    }
    TimerRequest request = JsonReader.read(Json.text(document), TimerRequest.class);
    RawJson merged = payload == null ? null : mergedPayload(timer, payload, memory);
    TimerSpec spec =
        TimerSpecs.unfinished(
            timer.key().namespace(), timer.key().id(), request.withPayload(merged), secrets, now);
    return payload == null ? spec.payload(timer.payload()) : spec;
  }

  private static void replaceTime(ObjectNode document, ObjectNode patch) {
    List<String> given = TIMES.stream().filter(patch::hasNonNull).toList();
    if (!given.isEmpty()) {
      document.remove(TIMES);
      if (!given.contains("cron")) {
        document.remove("zone");
      }
      if (!given.contains("cron") && !given.contains("every")) {
        document.remove(RECURRING);
      }
    }
  }

  private static void replaceTarget(ObjectNode document, ObjectNode patch) {
    for (String kind : List.of("queue", "url")) {
      if (patch.path(TARGET).hasNonNull(kind) && !document.path(TARGET).has(kind)) {
        document.remove(TARGET);
      }
    }
  }

  private static @Nullable RawJson mergedPayload(
      TimerInfo timer, JsonNode sent, LongConsumer memory) {
    if (!(sent instanceof POJONode node && node.getPojo() instanceof RawJson patch)) {
      return null;
    }
    if (!isObject(patch)) {
      return patch;
    }
    TimerSpecs.checkPayload(patch.text().length());
    RawJson present = Json.payload(timer.payload());
    ObjectNode merged =
        present != null && isObject(present) ? tree(present, memory) : Json.object();
    merge(merged, tree(patch, memory));
    return new RawJson(Json.text(merged));
  }

  private static boolean isObject(RawJson json) {
    return json.text().stripLeading().startsWith("{");
  }

  private static ObjectNode tree(RawJson object, LongConsumer memory) {
    return JsonReader.tree(object.text(), Integer.MAX_VALUE, null, memory);
  }

  private static void merge(ObjectNode into, ObjectNode patch) {
    patch
        .properties()
        .forEach(
            field -> {
              JsonNode value = field.getValue();
              if (value.isNull()) {
                into.remove(field.getKey());
              } else if (value instanceof ObjectNode fields) {
                ObjectNode inner =
                    into.get(field.getKey()) instanceof ObjectNode present
                        ? present
                        : into.putObject(field.getKey());
                merge(inner, fields);
              } else {
                into.set(field.getKey(), value);
              }
            });
  }
}
