// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.json;

import io.timewheel.server.problem.Problem;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * Reads one JSON document, strictly: an unknown field, one that comes twice, or a value of another
 * type is refused, and the refusal names the field. A field that is null counts as absent.
 */
public final class JsonReader {
  private final String text;
  private final JsonParser parser;
  private final Deque<String> path = new ArrayDeque<>();

  private JsonReader(String text) {
    this.text = text;
    parser = Json.parser(text);
  }

  /** Reads a field. */
  public interface Field {
    /**
     * Reads the value that the reader stands at.
     *
     * @return false if there is no such field
     */
    boolean read(String name, JsonReader value);
  }

  /** Reads a document that is an object. */
  public static void document(String text, Field field) {
    JsonReader reader = new JsonReader(text);
    try {
      if (reader.parser.nextToken() == null) {
        throw Problem.malformed("no body (expected: a JSON object)").failure();
      }
      reader.object(field);
      if (reader.parser.nextToken() != null) {
        throw Problem.malformed("something follows the JSON object").failure();
      }
    } catch (JacksonException e) {
      var at = e.getLocation();
      throw Problem.malformed(
              "not JSON"
                  + (at == null
                      ? ""
                      : " at line " + at.getLineNr() + ", column " + at.getColumnNr())
                  + ": "
                  + e.getOriginalMessage())
          .failure();
    }
  }

  /** Reads the body of a request that needs none: nothing, or an object without fields. */
  public static void empty(String text) {
    if (!text.isEmpty()) {
      document(text, (name, value) -> false);
    }
  }

  /** Reads an object. */
  public void object(Field field) {
    expect(JsonToken.START_OBJECT, "an object");
    Set<String> seen = new HashSet<>();
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String name = parser.currentName();
      path.addLast(name);
      parser.nextToken();
      if (!seen.add(name)) {
        throw Problem.malformed("field " + name + " comes twice").at(where()).failure();
      }
      if (!field.read(name, this)) {
        throw Problem.malformed("unknown field " + name).at(where()).failure();
      }
      path.removeLast();
    }
  }

  public boolean isNull() {
    return parser.currentToken() == JsonToken.VALUE_NULL;
  }

  public @Nullable String string() {
    if (isNull()) {
      return null;
    }
    expect(JsonToken.VALUE_STRING, "a text");
    return parser.getString();
  }

  public boolean isInteger() {
    return parser.currentToken() == JsonToken.VALUE_NUMBER_INT;
  }

  public boolean isArray() {
    return parser.currentToken() == JsonToken.START_ARRAY;
  }

  /** {@return a text, which must be there} */
  public String text() {
    expect(JsonToken.VALUE_STRING, "a text");
    return parser.getString();
  }

  public @Nullable Long integer() {
    if (isNull()) {
      return null;
    }
    if (parser.currentToken() != JsonToken.VALUE_NUMBER_INT) {
      throw wrongType("a whole number");
    }
    try {
      return parser.getLongValue();
    } catch (JacksonException e) {
      throw Problem.invalid(where(), last() + ": a number out of range").failure();
    }
  }

  public @Nullable Duration duration() {
    return parsed("a duration such as PT30M", Duration::parse);
  }

  public @Nullable Instant instant() {
    return parsed("an instant such as 2026-12-01T09:00:00Z", JsonReader::instantOf);
  }

  private <T> @Nullable T parsed(String expected, Function<String, T> parse) {
    String value = string();
    if (value == null) {
      return null;
    }
    try {
      return parse.apply(value);
    } catch (RuntimeException e) {
      throw Problem.invalid(where(), last() + ": " + value + " (expected: " + expected + ")")
          .failure();
    }
  }

  /** Reads an object whose values are texts. */
  public @Nullable Map<String, String> texts() {
    if (isNull()) {
      return null;
    }
    Map<String, String> texts = new LinkedHashMap<>();
    object(
        (name, value) -> {
          texts.put(name, value.text());
          return true;
        });
    return texts;
  }

  /** {@return the value as it stands in the document} */
  public String raw() {
    int from = (int) parser.currentTokenLocation().getCharOffset();
    parser.skipChildren();
    parser.finishToken();
    return text.substring(from, (int) parser.currentLocation().getCharOffset());
  }

  /** Passes over the value. */
  public boolean ignore() {
    parser.skipChildren();
    return true;
  }

  /** Reads an array, value by value. */
  public void array(Runnable each) {
    expect(JsonToken.START_ARRAY, "an array");
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      each.run();
    }
  }

  String where() {
    return String.join(".", path);
  }

  private String last() {
    String name = path.peekLast();
    return name == null ? "the body" : name;
  }

  private void expect(JsonToken token, String expected) {
    if (parser.currentToken() != token) {
      throw wrongType(expected);
    }
  }

  Problem.Failure wrongType(String expected) {
    return Problem.malformed(last() + ": of another type (expected: " + expected + ")")
        .at(path.isEmpty() ? null : where())
        .failure();
  }

  /** {@return an instant, with or without seconds, as ISO 8601 allows} */
  public static Instant instantOf(String text) {
    try {
      return Instant.parse(text);
    } catch (DateTimeParseException e) {
      return OffsetDateTime.parse(text).toInstant();
    }
  }
}
