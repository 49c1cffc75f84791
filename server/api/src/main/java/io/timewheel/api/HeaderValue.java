// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.annotation.JsonDeserialize;
import tools.jackson.databind.annotation.JsonSerialize;

/**
 * The value of a header of webhook requests: a text, or {@code {"secret":"name"}}, which the server
 * resolves with each request. Exactly one component is not null.
 *
 * @param text the value itself
 * @param secret the name of a secret of the server's configuration
 */
@JsonSerialize(using = HeaderValue.Serializer.class)
@JsonDeserialize(using = HeaderValue.Deserializer.class)
public record HeaderValue(@Nullable String text, @Nullable String secret) {
  /**
   * Checks that exactly one component is present.
   *
   * @param text the value itself
   * @param secret the name of a secret of the server's configuration
   */
  public HeaderValue {
    if ((text == null) == (secret == null)) {
      throw new IllegalArgumentException("header value (expected: a text or a secret)");
    }
  }

  /**
   * Makes a plain value.
   *
   * @param text the value
   * @return the value
   */
  public static HeaderValue text(String text) {
    return new HeaderValue(text, null);
  }

  /**
   * Makes a value that the server resolves.
   *
   * @param name the name of the secret
   * @return the value
   */
  public static HeaderValue secret(String name) {
    return new HeaderValue(null, name);
  }

  /** Writes a text, or an object with the name of the secret. */
  static final class Serializer extends ValueSerializer<HeaderValue> {
    @Override
    public void serialize(HeaderValue value, JsonGenerator json, SerializationContext context) {
      if (value.text != null) {
        json.writeString(value.text);
      } else {
        json.writeStartObject();
        json.writeStringProperty("secret", value.secret);
        json.writeEndObject();
      }
    }
  }

  /** Reads the output of the serializer, and nothing else. */
  static final class Deserializer extends ValueDeserializer<HeaderValue> {
    @Override
    public HeaderValue deserialize(JsonParser json, DeserializationContext context) {
      if (json.hasToken(JsonToken.VALUE_STRING)) {
        return text(json.getString());
      }
      if (json.hasToken(JsonToken.START_OBJECT)
          && json.nextToken() == JsonToken.PROPERTY_NAME
          && json.currentName().equals("secret")
          && json.nextToken() == JsonToken.VALUE_STRING) {
        String name = json.getString();
        if (json.nextToken() == JsonToken.END_OBJECT) {
          return secret(name);
        }
      }
      return (HeaderValue) context.handleUnexpectedToken(HeaderValue.class, json);
    }
  }
}
