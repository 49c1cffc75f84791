// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.annotation.JsonDeserialize;
import tools.jackson.databind.annotation.JsonSerialize;

/**
 * A JSON value that keeps its text: the whitespace, the order of its fields, the form of its
 * numbers. A reader without {@link ApiJson#DOCUMENT} keeps the value only.
 *
 * @param text the JSON value
 */
@JsonSerialize(using = RawJson.Serializer.class)
@JsonDeserialize(using = RawJson.Deserializer.class)
public record RawJson(String text) {
  /** Writes the text unchanged. */
  static final class Serializer extends ValueSerializer<RawJson> {
    @Override
    public void serialize(RawJson value, JsonGenerator json, SerializationContext context) {
      json.writeRawValue(value.text);
    }
  }

  /** Cuts the value out of the document, if the reader has it. */
  static final class Deserializer extends ValueDeserializer<RawJson> {
    @Override
    public RawJson deserialize(JsonParser parser, DeserializationContext context) {
      if (!(context.getAttribute(ApiJson.DOCUMENT) instanceof String document)) {
        return new RawJson(context.readTree(parser).toString());
      }
      int from = (int) parser.currentTokenLocation().getCharOffset();
      parser.skipChildren();
      parser.finishToken();
      return new RawJson(document.substring(from, (int) parser.currentLocation().getCharOffset()));
    }

    @Override
    public RawJson getNullValue(DeserializationContext context) {
      return new RawJson("null");
    }

    @Override
    public @Nullable Object getAbsentValue(DeserializationContext context) {
      return null;
    }
  }
}
