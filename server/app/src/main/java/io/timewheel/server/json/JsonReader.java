// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.json;

import io.timewheel.api.ApiJson;
import io.timewheel.api.HeaderValue;
import io.timewheel.api.RawJson;
import io.timewheel.server.problem.Problem;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.Objects;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.TokenStreamContext;
import tools.jackson.core.exc.InputCoercionException;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.exc.InvalidFormatException;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.exc.UnrecognizedPropertyException;
import tools.jackson.databind.node.ObjectNode;

/**
 * Parses one JSON document into a record. An unknown field, a duplicate field or a value of another
 * type is refused, and the problem names the field. A field that is null counts as absent.
 */
public final class JsonReader {
  /** A document without fields. */
  private record Nothing() {}

  /**
   * The maximum number of fields of an object, more than any record has. In memory, a short name
   * takes far more than the bytes of its text.
   */
  public static final int MAX_NAMES = 100;

  /** The memory of a field of a tree, or of an object, in addition to its text. */
  public static final int FIELD_BYTES = 200;

  private JsonReader() {}

  /** Parses a document that is an object. No object in it may have more than 100 fields. */
  public static <T> T read(String text, Class<T> type) {
    try (JsonParser parser = parser(text)) {
      try {
        return read(parser, text, type);
      } catch (JacksonException e) {
        throw problem(e, parser).failure();
      }
    }
  }

  static JsonParser parser(String text) {
    return new UniqueNamesParser(Json.MAPPER.createParser(text), MAX_NAMES);
  }

  static <T> T read(JsonParser parser, String text, Class<T> type) {
    checkStart(parser, type);
    T value = Json.MAPPER.readerFor(type).withAttribute(ApiJson.DOCUMENT, text).readValue(parser);
    checkEnd(parser);
    return value;
  }

  private static void checkStart(JsonParser parser, Class<?> type) {
    if (parser.nextToken() == null) {
      throw Problem.malformed("no body (expected: a JSON object)").failure();
    }
    if (!parser.hasToken(JsonToken.START_OBJECT)) {
      throw MismatchedInputException.from(parser, type, "not an object");
    }
  }

  static void checkEnd(JsonParser parser) {
    if (parser.nextToken() != null) {
      throw Problem.malformed("text follows the JSON object").failure();
    }
  }

  /**
   * Parses an object as a tree of objects. Each other value except null keeps its text, and needs
   * no memory for its content.
   *
   * @param maxNames the largest number of fields of an object
   * @param kept the name of a field of the document that keeps its text, even if it is an object;
   *     null for none
   * @param memory called with the memory of the tree, in parts
   */
  public static ObjectNode tree(
      String text, int maxNames, @Nullable String kept, LongConsumer memory) {
    try (JsonParser parser = new UniqueNamesParser(Json.MAPPER.createParser(text), maxNames)) {
      try {
        checkStart(parser, ObjectNode.class);
        ObjectReader values =
            Json.MAPPER.readerFor(RawJson.class).withAttribute(ApiJson.DOCUMENT, text);
        ObjectNode tree = object(parser, values, kept, memory);
        checkEnd(parser);
        return tree;
      } catch (JacksonException e) {
        throw problem(e, parser).failure();
      }
    }
  }

  private static ObjectNode object(
      JsonParser parser, ObjectReader values, @Nullable String kept, LongConsumer memory) {
    ObjectNode object = Json.object();
    for (String name = parser.nextName(); name != null; name = parser.nextName()) {
      JsonToken value = parser.nextToken();
      if (value == JsonToken.VALUE_NULL) {
        object.putNull(name);
      } else if (value == JsonToken.START_OBJECT && !name.equals(kept)) {
        object.set(name, object(parser, values, null, memory));
      } else {
        object.putPOJO(name, values.readValue(parser));
      }
    }
    memory.accept((1L + object.size()) * FIELD_BYTES);
    return object;
  }

  /** Parses a document that may be missing, which counts as an object without fields. */
  public static <T> T readOptional(String text, Class<T> type) {
    return read(text.isEmpty() ? "{}" : text, type);
  }

  /** Checks the body of a request that needs none: empty, or an object without fields. */
  public static void empty(String text) {
    var unused = readOptional(text, Nothing.class);
  }

  /**
   * {@return the reason why a document is refused}
   *
   * @param parser the parser, positioned at the fault
   */
  static Problem problem(JacksonException e, JsonParser parser) {
    Deque<String> path = new ArrayDeque<>();
    if (e instanceof UnrecognizedPropertyException) { // reported at the end of its object
      e.getPath().stream()
          .map(JacksonException.Reference::getPropertyName)
          .filter(Objects::nonNull) // an index
          .forEach(path::add);
    } else {
      TokenStreamContext at = parser.streamReadContext();
      while (at != null) {
        if (at.hasCurrentName()) {
          path.addFirst(at.currentName());
        }
        at = at.getParent();
      }
    }
    String field = path.isEmpty() ? null : String.join(".", path);
    String last = path.isEmpty() ? "the body" : path.getLast();
    if (e instanceof UniqueNamesParser.TooManyNamesException) {
      path.pollLast(); // the first name above the limit
      String object = path.isEmpty() ? "the object" : path.getLast();
      return Problem.invalid(
          path.isEmpty() ? null : String.join(".", path),
          object + ": too many fields (expected: at most " + MAX_NAMES + ")");
    } else if (e instanceof UniqueNamesParser.DuplicateNameException) {
      return Problem.malformed("field " + last + " is given twice").at(field);
    } else if (e instanceof UnrecognizedPropertyException) {
      return Problem.malformed("unknown field " + last).at(field);
    } else if (e instanceof InputCoercionException) {
      return Problem.invalid(field, last + ": a number out of range");
    } else if (e instanceof InvalidFormatException wrong && isTime(wrong.getTargetType())) {
      return Problem.invalid(
          field, last + ": " + wrong.getValue() + " (expected: " + e.getOriginalMessage() + ")");
    } else if (e instanceof MismatchedInputException wrong) {
      String expected = expected(wrong.getTargetType());
      return Problem.malformed(last + ": of another type (expected: " + expected + ")").at(field);
    }
    return notJson(e);
  }

  private static boolean isTime(Class<?> type) {
    return type == Duration.class || type == Instant.class;
  }

  private static String expected(Class<?> type) {
    if (type == HeaderValue.class) {
      return "a text, or {\"secret\":\"name\"}";
    }
    return type == String.class
        ? "a text"
        : Number.class.isAssignableFrom(type)
            ? "a whole number"
            : Collection.class.isAssignableFrom(type) ? "an array" : "an object";
  }

  private static Problem notJson(JacksonException e) {
    var at = e.getLocation();
    return Problem.malformed(
        "not JSON"
            + (at == null ? "" : " at line " + at.getLineNr() + ", column " + at.getColumnNr())
            + ": "
            + e.getOriginalMessage());
  }
}
