// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.time.Period;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/**
 * Validates JSON by the schemas of a document, as far as that document uses them. Stricter than
 * JSON Schema: a property that is not described is an error.
 */
final class Schemas {
  private final JsonNode document;

  Schemas(JsonNode document) {
    this.document = document;
  }

  /** {@return the schema of a node, which may be a reference} */
  JsonNode resolve(JsonNode node) {
    JsonNode reference = node.get("$ref");
    if (reference == null) {
      return node;
    }
    JsonNode target = document.at(reference.asString().substring(1));
    assertThat(target.isMissingNode()).as(reference.asString()).isFalse();
    return target;
  }

  void check(JsonNode value, JsonNode given, String where) {
    JsonNode schema = resolve(given);
    for (JsonNode part : schema.path("allOf")) {
      check(value, part, where);
    }
    if (schema.has("oneOf")) {
      long matches = schema.get("oneOf").valueStream().filter(part -> fits(value, part)).count();
      assertThat(matches).as(where + " matches one alternative").isOne();
    }
    if (schema.has("type")) {
      assertThat(types(schema.get("type"))).as(where).contains(type(value));
    }
    if (schema.has("enum")) {
      assertThat(schema.get("enum")).as(where).contains(value);
    }
    if (schema.has("pattern")) {
      assertThat(value.asString()).as(where).matches(schema.get("pattern").asString());
    }
    format(value, schema.path("format").asString(""), where);
    if (value.isObject()) {
      object(value, schema, where);
    } else if (value.isArray()) {
      assertThat(value.size())
          .as(where)
          .isBetween(schema.path("minItems").asInt(0), schema.path("maxItems").asInt(10_000));
      for (JsonNode item : value) {
        check(item, schema.path("items"), where + "[]");
      }
    }
  }

  private boolean fits(JsonNode value, JsonNode alternative) {
    JsonNode schema = resolve(alternative);
    if (!schema.has("type") && schema.has("required")) {
      return schema.get("required").valueStream().allMatch(name -> value.has(name.asString()));
    }
    try {
      check(value, schema, "an alternative");
      return true;
    } catch (AssertionError e) {
      return false;
    }
  }

  private void object(JsonNode value, JsonNode schema, String where) {
    for (JsonNode name : schema.path("required")) {
      assertThat(value.has(name.asString())).as(where + "." + name.asString()).isTrue();
    }
    for (var field : value.properties()) {
      JsonNode property = schema.path("properties").get(field.getKey());
      if (property == null) {
        property = schema.get("additionalProperties");
      }
      if (property == null && !schema.has("properties")) {
        continue; // any value
      }
      String path = where + "." + field.getKey();
      assertThat(property).as(path + " is not described").isNotNull();
      assertThat(property.isBoolean()).as(path + " is not allowed").isFalse();
      check(field.getValue(), property, path);
    }
  }

  private static List<String> types(JsonNode type) {
    List<String> types = new ArrayList<>();
    if (type.isString()) {
      types.add(type.asString());
    }
    type.forEach(each -> types.add(each.asString()));
    if (types.contains("number")) {
      types.add("integer");
    }
    return types;
  }

  private static String type(JsonNode value) {
    if (value.isIntegralNumber()) {
      return "integer";
    }
    return value.getNodeType().name().toLowerCase(java.util.Locale.ROOT);
  }

  private static void format(JsonNode value, String format, String where) {
    if (format.equals("date-time")) {
      assertThat(value.asString()).as(where).endsWith("Z");
      assertThat(Instant.parse(value.asString())).as(where).isNotNull();
    } else if (format.equals("duration")) {
      String text = value.asString();
      assertThat(text.contains("T") ? Duration.parse(text) : Period.parse(text))
          .as(where)
          .isNotNull();
    }
  }
}
