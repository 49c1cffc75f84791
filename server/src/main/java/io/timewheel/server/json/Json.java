// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.json;

import io.timewheel.server.problem.Problem;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Locale;
import java.util.function.Consumer;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonWriteFeature;

/** JSON as this server reads and writes it. */
public final class Json {
  public static final String MEDIA_TYPE = "application/json";

  /** How deep objects and arrays may be nested. */
  static final int MAX_DEPTH = 64;

  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(MAX_DEPTH)
                  .maxNumberLength(1_000)
                  .maxNameLength(64 * 1024)
                  .build())
          .build();

  /** For logs: no character can move a terminal's cursor, or pass for the end of a line. */
  private static final JsonFactory ASCII =
      JsonFactory.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

  private Json() {}

  static JsonParser parser(String text) {
    return FACTORY.createParser(ObjectReadContext.empty(), text);
  }

  /** Strictly: what is not UTF-8 is refused, and another encoding is not guessed. */
  public static String decode(byte[] bytes) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw Problem.malformed("the body is not UTF-8").failure();
    }
  }

  public static byte[] bytes(Consumer<JsonGenerator> content) {
    return bytes(FACTORY, content);
  }

  public static byte[] ascii(Consumer<JsonGenerator> content) {
    return bytes(ASCII, content);
  }

  private static byte[] bytes(JsonFactory factory, Consumer<JsonGenerator> content) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(512);
    try (JsonGenerator json = factory.createGenerator(ObjectWriteContext.empty(), bytes)) {
      content.accept(json);
    }
    return bytes.toByteArray();
  }

  /** {@return the name of a constant in JSON} */
  public static String name(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  /**
   * Writes a payload as it was sent. One that is not JSON, because it did not come by this API, is
   * written as base64 under another name.
   */
  public static void payload(JsonGenerator json, byte[] payload) {
    if (payload.length == 0) {
      return;
    }
    String text = new String(payload, StandardCharsets.UTF_8);
    if (isDocument(text)) {
      json.writeName("payload");
      json.writeRawValue(text);
    } else {
      json.writeStringProperty("payloadBase64", Base64.getEncoder().encodeToString(payload));
    }
  }

  private static boolean isDocument(String text) {
    try (JsonParser parser = parser(text)) {
      if (parser.nextToken() == null) {
        return false;
      }
      parser.skipChildren();
      parser.finishToken();
      return parser.nextToken() == null;
    } catch (JacksonException e) {
      return false;
    }
  }
}
