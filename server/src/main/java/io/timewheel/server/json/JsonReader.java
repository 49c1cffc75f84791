// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.json;

import io.timewheel.api.ApiJson;
import io.timewheel.api.HeaderValue;
import io.timewheel.server.problem.Problem;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.TokenStreamContext;
import tools.jackson.core.exc.InputCoercionException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.cfg.JsonNodeFeature;
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
  static final int MAX_NAMES = 100;

  private JsonReader() {}

  /** Parses a document that is an object. No object in it may have more than 100 fields. */
  public static <T> T read(String text, Class<T> type) {
    return read(text, type, MAX_NAMES);
  }

  private static <T> T read(String text, Class<T> type, int maxNames) {
    try (JsonParser parser = new UniqueNamesParser(Json.MAPPER.createParser(text), maxNames)) {
      try {
        return read(parser, text, type);
      } catch (JacksonException e) {
        throw problem(e, parser, null).failure();
      }
    }
  }

  private static <T> T read(JsonParser parser, String text, Class<T> type) {
    if (parser.nextToken() == null) {
      throw Problem.malformed("no body (expected: a JSON object)").failure();
    }
    if (!parser.hasToken(JsonToken.START_OBJECT)) {
      throw Problem.malformed("the body: of another type (expected: an object)").failure();
    }
    T value =
        Json.MAPPER
            .readerFor(type)
            .with(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .without(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
            .withAttribute(ApiJson.DOCUMENT, text)
            .readValue(parser);
    if (parser.nextToken() != null) {
      throw Problem.malformed("text follows the JSON object").failure();
    }
    return value;
  }

  /** Parses an object as a tree. Numbers keep their digits. */
  public static ObjectNode tree(String text) {
    return read(text, ObjectNode.class, Integer.MAX_VALUE);
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
   * @param root the context from which the path of the field counts; null for the document
   */
  static Problem problem(JacksonException e, JsonParser parser, @Nullable TokenStreamContext root) {
    Deque<String> path = new ArrayDeque<>();
    if (e instanceof UnrecognizedPropertyException) { // reported at the end of its object
      e.getPath().stream()
          .map(JacksonException.Reference::getPropertyName)
          .filter(Objects::nonNull) // an index
          .forEach(path::add);
    } else {
      TokenStreamContext at = parser.streamReadContext();
      while (at != null && at != root) {
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
