// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.json;

import io.timewheel.server.problem.Problem;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.exc.InputCoercionException;
import tools.jackson.databind.exc.MismatchedInputException;

/**
 * An element of an array that is parsed separately: a value, or the reason why it is refused.
 *
 * @param value the value; null if it is refused
 * @param id the ID of a refused element; null if it has none or there is a value
 * @param problem the reason; null if there is a value
 */
public record Parsed<T>(@Nullable T value, @Nullable String id, @Nullable Problem problem) {

  /**
   * Parses an element.
   *
   * @param element the element; if it is too large, at least its first bytes
   * @param id the field that contains its ID
   * @throws Problem.Failure if it is not JSON
   */
  static <T> Parsed<T> of(byte[] element, Class<T> type, String id) {
    if (element.length > Elements.MAX_BYTES) {
      String start = new String(element, StandardCharsets.UTF_8);
      return new Parsed<>(
          null, id(start, id, false), Problem.tooLarge("the element", Elements.MAX_BYTES));
    }
    String text = Json.decode(element);
    try (JsonParser parser = JsonReader.parser(text)) {
      try {
        return new Parsed<>(JsonReader.read(parser, text, type), null, null);
      } catch (MismatchedInputException
          | InputCoercionException
          | UniqueNamesParser.TooManyNamesException
          | UniqueNamesParser.DuplicateNameException e) {
        return new Parsed<>(null, id(text, id, true), JsonReader.problem(e, parser));
      } catch (JacksonException e) {
        throw JsonReader.problem(e, parser).failure();
      }
    }
  }

  /** {@return the ID in an element, all of which is checked if it is complete} */
  private static @Nullable String id(String text, String field, boolean complete) {
    String id = null;
    try (JsonParser parser = Json.MAPPER.createParser(text)) {
      try {
        if (parser.nextToken() == JsonToken.START_OBJECT) {
          while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            boolean isId = id == null && parser.currentName().equals(field);
            if (parser.nextToken() == JsonToken.VALUE_STRING && isId) {
              id = parser.getString();
            }
            parser.skipChildren();
          }
        } else {
          parser.skipChildren();
        }
        JsonReader.checkEnd(parser);
      } catch (JacksonException e) {
        if (complete) {
          throw JsonReader.problem(e, parser).failure();
        }
      }
    }
    return id;
  }
}
