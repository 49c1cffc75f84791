// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

import static com.fasterxml.jackson.annotation.JsonInclude.Include.NON_NULL;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import java.util.function.Function;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.cfg.CoercionAction;
import tools.jackson.databind.cfg.CoercionInputShape;
import tools.jackson.databind.exc.InvalidFormatException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;

/** The configuration of Jackson for the records of this package. */
public final class ApiJson {
  /**
   * The attribute of a reader that holds the document as a {@code String}, so that a {@link
   * RawJson} keeps its text.
   */
  public static final String DOCUMENT = "document";

  /** The earliest instant that the API accepts. */
  public static final Instant EARLIEST = Instant.EPOCH;

  /** The latest instant that the API accepts. */
  public static final Instant LATEST = Instant.parse("9999-12-31T23:59:59.999Z");

  /** The expected form of an instant, for messages. */
  public static final String INSTANT = "an instant from 1970 to 9999 such as 2026-12-01T09:00:00Z";

  private ApiJson() {}

  /**
   * Returns a builder of mappers that convert no value to another type and write no absent
   * component. The caller decides on unknown fields, which a client should ignore.
   *
   * @param factory the limits of documents
   * @return the builder
   */
  public static JsonMapper.Builder builder(JsonFactory factory) {
    SimpleModule times = new SimpleModule("timewheel");
    times.addDeserializer(
        Duration.class, new Parsed<>(Duration.class, "a duration such as PT30M", Duration::parse));
    times.addDeserializer(
        Instant.class, new Parsed<>(Instant.class, INSTANT, ApiJson::parseInstant));
    return JsonMapper.builder(factory)
        .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
        .disable(DeserializationFeature.WRAP_EXCEPTIONS)
        .withCoercionConfigDefaults(
            coercions -> {
              for (CoercionInputShape shape : CoercionInputShape.values()) {
                coercions.setCoercion(shape, CoercionAction.Fail);
              }
            })
        .changeDefaultPropertyInclusion(inclusion -> inclusion.withValueInclusion(NON_NULL))
        .addModule(times);
  }

  /**
   * Parses an instant, with or without seconds, as ISO 8601 allows.
   *
   * @param text such as {@code 2026-12-01T09:00Z}
   * @return the instant
   * @throws DateTimeException if the text is not an instant, or not one from 1970 to 9999
   */
  public static Instant parseInstant(String text) {
    Instant instant = parse(text);
    if (!isAccepted(instant)) {
      throw new DateTimeException(text + " (expected: " + INSTANT + ")");
    }
    return instant;
  }

  /**
   * Returns whether the API accepts an instant.
   *
   * @param instant the instant
   * @return true if it is from 1970 to 9999
   */
  public static boolean isAccepted(Instant instant) {
    return !instant.isBefore(EARLIEST) && !instant.isAfter(LATEST);
  }

  private static Instant parse(String text) {
    try {
      return Instant.parse(text);
    } catch (DateTimeParseException e) {
      return OffsetDateTime.parse(text).toInstant();
    }
  }

  /** Reads a text. If it cannot be parsed, the message of the exception is the expected form. */
  private static final class Parsed<T> extends ValueDeserializer<T> {
    private final Class<T> type;
    private final String expected;
    private final Function<String, T> parser;

    Parsed(Class<T> type, String expected, Function<String, T> parser) {
      this.type = type;
      this.expected = expected;
      this.parser = parser;
    }

    @Override
    public T deserialize(JsonParser json, DeserializationContext context) {
      if (!json.hasToken(JsonToken.VALUE_STRING)) {
        return type.cast(context.handleUnexpectedToken(String.class, json));
      }
      String text = json.getString();
      try {
        return parser.apply(text);
      } catch (RuntimeException e) {
        throw InvalidFormatException.from(json, expected, text, type);
      }
    }
  }
}
