// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.json;

import io.timewheel.api.ApiJson;
import io.timewheel.api.RawJson;
import io.timewheel.server.problem.Problem;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Reads and writes the JSON of this server. */
public final class Json {
  public static final String MEDIA_TYPE = "application/json";

  /** The media type of a patch (RFC 7396). */
  public static final String MERGE_PATCH = "application/merge-patch+json";

  /** The deepest nesting of objects and arrays. */
  static final int MAX_DEPTH = 64;

  /** The decoder's replacement for bytes that are not UTF-8. */
  private static final char REPLACEMENT = '\uFFFD';

  static final JsonMapper MAPPER =
      ApiJson.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(MAX_DEPTH)
                          .maxNumberLength(1_000)
                          .maxNameLength(64 * 1024)
                          .build())
                  // The table of names would take many times the memory of a payload.
                  .disable(TokenStreamFactory.Feature.CANONICALIZE_PROPERTY_NAMES)
                  .build())
          .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .disable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  /** Writes JSON for logs. No character can move the cursor of a terminal, or end a line. */
  private static final ObjectWriter ASCII = MAPPER.writer().with(JsonWriteFeature.ESCAPE_NON_ASCII);

  private Json() {}

  /** Decodes UTF-8 strictly. Other encodings are refused. */
  public static String decode(byte[] bytes) {
    String text = new String(bytes, StandardCharsets.UTF_8);
    if (text.indexOf(REPLACEMENT) < 0) {
      return text; // a CharBuffer would take twice the memory of the text
    }
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw Problem.malformed("the body is not UTF-8").failure();
    }
  }

  /** {@return a record or a map as JSON in UTF-8} */
  public static byte[] bytes(Object value) {
    return MAPPER.writeValueAsBytes(value);
  }

  /** {@return a record or a map as JSON} */
  public static String text(Object value) {
    return MAPPER.writeValueAsString(value);
  }

  /** {@return a record or a map as JSON in ASCII} */
  public static String ascii(Object value) {
    return ASCII.writeValueAsString(value);
  }

  /** {@return a record as a tree} */
  public static ObjectNode tree(Record value) {
    return MAPPER.valueToTree(value);
  }

  /** {@return an object without fields} */
  public static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  /** {@return the name of a constant in JSON} */
  public static String name(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  /** {@return a payload as a JSON value; null if it is empty or not JSON} */
  public static @Nullable RawJson payload(byte[] payload) {
    String text = new String(payload, StandardCharsets.UTF_8);
    try (JsonParser parser = MAPPER.createParser(text)) {
      if (parser.nextToken() == null) {
        return null;
      }
      parser.skipChildren();
      parser.finishToken();
      return parser.nextToken() == null ? new RawJson(text) : null;
    } catch (JacksonException e) {
      return null;
    }
  }
}
