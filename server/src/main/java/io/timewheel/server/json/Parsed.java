// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.json;

import io.timewheel.api.ApiJson;
import io.timewheel.server.problem.Problem;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.TokenStreamContext;
import tools.jackson.core.exc.InputCoercionException;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.exc.MismatchedInputException;

/**
 * An element of an array that is parsed separately: a value, or the reason why it is refused.
 *
 * @param value the value; null if it is refused
 * @param id the ID of a refused element; null if it has none or there is a value
 * @param problem the reason; null if there is a value
 */
public record Parsed<T>(@Nullable T value, @Nullable String id, @Nullable Problem problem) {

  /** Refuses an array without elements, or with more than {@link #MAX_ELEMENTS}. */
  public static void checkSize(String field, List<? extends Parsed<?>> elements) {
    if (elements.isEmpty() || elements.size() > MAX_ELEMENTS) {
      String size = elements.isEmpty() ? "none" : "more than " + MAX_ELEMENTS;
      throw Problem.invalid(field, field + ": " + size + " (expected: 1 to " + MAX_ELEMENTS + ")")
          .failure();
    }
  }

  /** The largest number of elements that is kept of each array. */
  public static final int MAX_ELEMENTS = 1_000;

  /**
   * Parses an array. A document is refused as a whole only if an element is not JSON. Elements
   * beyond the first 1,001 are skipped, because millions of small ones would fill the memory.
   */
  public abstract static class Elements<T> extends ValueDeserializer<List<Parsed<T>>> {
    private final Class<T> type;
    private final String id;

    /**
     * Creates the parser of an array.
     *
     * @param type the type of an element
     * @param id the field that contains the ID of an element
     */
    protected Elements(Class<T> type, String id) {
      this.type = type;
      this.id = id;
    }

    @Override
    public List<Parsed<T>> deserialize(JsonParser parser, DeserializationContext context) {
      if (!parser.isExpectedStartArrayToken()) {
        throw MismatchedInputException.from(parser, List.class, "not an array");
      }
      ValueDeserializer<Object> reader =
          context.findRootValueDeserializer(context.constructType(type));
      TokenStreamContext array = parser.streamReadContext();
      List<Parsed<T>> elements = new ArrayList<>();
      while (parser.nextToken() != JsonToken.END_ARRAY) {
        if (elements.size() > MAX_ELEMENTS) {
          parser.skipChildren();
          continue;
        }
        long from = parser.currentTokenLocation().getCharOffset();
        try {
          elements.add(new Parsed<>(type.cast(reader.deserialize(parser, context)), null, null));
        } catch (MismatchedInputException
            | InputCoercionException
            | UniqueNamesParser.TooManyNamesException
            | UniqueNamesParser.DuplicateNameException e) {
          Problem problem = JsonReader.problem(e, parser, array);
          skipTo(array, parser);
          elements.add(new Parsed<>(null, idFrom(from, parser, context), problem));
        }
      }
      return elements;
    }

    /** {@return the ID of the element between an offset of the document and the parser} */
    private @Nullable String idFrom(long from, JsonParser parser, DeserializationContext context) {
      if (!(context.getAttribute(ApiJson.DOCUMENT) instanceof String document)) {
        return null;
      }
      int to = (int) parser.currentLocation().getCharOffset();
      try (JsonParser element = Json.MAPPER.createParser(document.substring((int) from, to))) {
        if (element.nextToken() != JsonToken.START_OBJECT) {
          return null;
        }
        while (element.nextToken() == JsonToken.PROPERTY_NAME) {
          boolean isId = element.currentName().equals(id);
          if (element.nextToken() == JsonToken.VALUE_STRING && isId) {
            return element.getString();
          }
          element.skipChildren();
        }
        return null;
      }
    }

    private static void skipTo(TokenStreamContext array, JsonParser parser) {
      JsonParser unchecked = parser instanceof UniqueNamesParser names ? names.delegate() : parser;
      while (unchecked.streamReadContext() != array) {
        unchecked.nextToken();
      }
    }
  }
}
