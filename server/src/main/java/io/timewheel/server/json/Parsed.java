// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.json;

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
 * An element of an array that is read on its own: a value or the reason why it is refused.
 *
 * @param value the value; null if it is refused
 * @param problem the reason; null if there is a value
 */
public record Parsed<T>(@Nullable T value, @Nullable Problem problem) {

  /** Reads an array. Only an element that is not JSON refuses the whole document. */
  public abstract static class Elements<T> extends ValueDeserializer<List<Parsed<T>>> {
    private final Class<T> type;

    protected Elements(Class<T> type) {
      this.type = type;
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
        try {
          elements.add(new Parsed<>(type.cast(reader.deserialize(parser, context)), null));
        } catch (MismatchedInputException
            | InputCoercionException
            | UniqueNamesParser.DuplicateNameException e) {
          elements.add(new Parsed<>(null, JsonReader.problem(e, parser, array)));
          skipTo(array, parser);
        }
      }
      return elements;
    }

    private static void skipTo(TokenStreamContext array, JsonParser parser) {
      JsonParser unchecked = parser instanceof UniqueNamesParser names ? names.delegate() : parser;
      while (unchecked.streamReadContext() != array) {
        unchecked.nextToken();
      }
    }
  }
}
