// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.transfer;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * Reads one object of an import. Each property is taken by name and type; properties that remain at
 * the end are unknown. Every error is an {@link IllegalArgumentException} that names the property.
 */
final class JsonObject {
  private static final int MAX_ELEMENTS = 10_000;

  private final String name;
  private final Map<String, Object> properties;

  private JsonObject(String name, Map<String, Object> properties) {
    this.name = name;
    this.properties = properties;
  }

  /** Reads the object at the parser's current position. */
  static JsonObject read(JsonParser parser) {
    return new JsonObject("", readProperties(parser));
  }

  private static Map<String, Object> readProperties(JsonParser parser) {
    Map<String, Object> properties = new LinkedHashMap<>();
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String property = parser.currentName();
      parser.nextToken();
      Object value = readValue(parser);
      if (value != null && properties.put(property, value) != null) {
        throw new IllegalArgumentException(property + ": is there twice");
      }
      if (properties.size() > MAX_ELEMENTS) {
        throw new IllegalArgumentException("more than " + MAX_ELEMENTS + " properties");
      }
    }
    return properties;
  }

  private static @Nullable Object readValue(JsonParser parser) {
    return switch (parser.currentToken()) {
      case START_OBJECT -> readProperties(parser);
      case START_ARRAY -> readElements(parser);
      case VALUE_STRING -> parser.getString();
      case VALUE_NUMBER_INT -> parser.getLongValue();
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      case VALUE_NULL -> null;
      default -> throw new IllegalArgumentException("unexpected " + parser.getString());
    };
  }

  private static List<Object> readElements(JsonParser parser) {
    List<Object> elements = new ArrayList<>();
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      Object element = readValue(parser);
      if (element == null || elements.size() == MAX_ELEMENTS) {
        throw new IllegalArgumentException("an array that contains null or is too long");
      }
      elements.add(element);
    }
    return elements;
  }

  private String path(String property) {
    return name.isEmpty() ? property : name + "." + property;
  }

  private <T> @Nullable T take(String property, Class<T> type, String expected) {
    Object value = properties.remove(property);
    if (value != null && !type.isInstance(value)) {
      throw new IllegalArgumentException(path(property) + ": " + value + expected(expected));
    }
    return type.cast(value);
  }

  private static String expected(String what) {
    return " (expected: " + what + ")";
  }

  private <T> T required(String property, @Nullable T value) {
    if (value == null) {
      throw new IllegalArgumentException(path(property) + ": is missing");
    }
    return value;
  }

  boolean has(String property) {
    return properties.containsKey(property);
  }

  @Nullable String textOrNull(String property) {
    return take(property, String.class, "a text");
  }

  String text(String property) {
    return required(property, textOrNull(property));
  }

  long number(String property) {
    return required(property, take(property, Long.class, "a whole number"));
  }

  long number(String property, long otherwise) {
    Long value = take(property, Long.class, "a whole number");
    return value == null ? otherwise : value;
  }

  /** Takes a number that is not negative. */
  long count(String property) {
    long value = number(property);
    if (value < 0) {
      throw new IllegalArgumentException(path(property) + ": " + value + expected("at least 0"));
    }
    return value;
  }

  int smallCount(String property) {
    long value = count(property);
    if (value > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          path(property) + ": " + value + expected("at most " + Integer.MAX_VALUE));
    }
    return (int) value;
  }

  boolean flag(String property) {
    Boolean value = take(property, Boolean.class, "true or false");
    return value != null && value;
  }

  <E extends Enum<E>> E constant(String property, Class<E> type) {
    String value = text(property);
    try {
      return Enum.valueOf(type, value);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          path(property) + ": " + value + expected("one of " + List.of(type.getEnumConstants())));
    }
  }

  /** Takes a text and parses it. */
  <T> T parsed(String property, Function<String, T> parser) {
    String value = text(property);
    try {
      return parser.apply(value);
    } catch (RuntimeException e) {
      throw new IllegalArgumentException(path(property) + ": " + value + ": " + e.getMessage());
    }
  }

  @Nullable JsonObject objectOrNull(String property) {
    Map<?, ?> value = take(property, Map.class, "an object");
    return value == null ? null : nested(path(property), value);
  }

  JsonObject object(String property) {
    return required(property, objectOrNull(property));
  }

  List<JsonObject> objects(String property) {
    List<JsonObject> objects = new ArrayList<>();
    for (Object element : elements(property)) {
      if (!(element instanceof Map<?, ?> value)) {
        throw new IllegalArgumentException(path(property) + ": " + element + expected("objects"));
      }
      objects.add(nested(path(property) + "[" + objects.size() + "]", value));
    }
    return objects;
  }

  List<String> texts(String property) {
    List<String> texts = new ArrayList<>();
    for (Object element : elements(property)) {
      if (!(element instanceof String text)) {
        throw new IllegalArgumentException(path(property) + ": " + element + expected("texts"));
      }
      texts.add(text);
    }
    return texts;
  }

  private List<?> elements(String property) {
    List<?> elements = take(property, List.class, "an array");
    return elements == null ? List.of() : elements;
  }

  /** Takes an object whose values are texts. */
  Map<String, String> textMap(String property) {
    JsonObject object = objectOrNull(property);
    Map<String, String> texts = new LinkedHashMap<>();
    if (object != null) {
      for (String key : List.copyOf(object.properties.keySet())) {
        texts.put(key, object.text(key));
      }
    }
    return texts;
  }

  private static JsonObject nested(String path, Map<?, ?> value) {
    Map<String, Object> properties = new LinkedHashMap<>();
    value.forEach((key, element) -> properties.put((String) key, element));
    return new JsonObject(path, properties);
  }

  /** Throws if a property was not taken. */
  void end() {
    for (String property : properties.keySet()) {
      throw new IllegalArgumentException(path(property) + ": is not known");
    }
  }
}
