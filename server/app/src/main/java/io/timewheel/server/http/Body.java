// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import io.timewheel.server.json.Elements;
import io.timewheel.server.json.Json;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.eclipse.jetty.util.BufferUtil;

/**
 * The body that a request may have, and the step that uses it.
 *
 * @param maxBytes the largest size of the body
 * @param type its media type
 * @param sink receives the bytes as they arrive
 * @param then continues with the filled sink; an exception is answered
 */
public record Body<S extends Consumer<ByteBuffer>>(
    int maxBytes, String type, S sink, Consumer<S> then) {
  /** {@return a body of JSON; an absent one is an empty text} */
  public static Body<?> text(int maxBytes, Consumer<String> then) {
    return text(maxBytes, Json.MEDIA_TYPE, then);
  }

  /** {@return a body of a media type; an absent one is an empty text} */
  public static Body<?> text(int maxBytes, String type, Consumer<String> then) {
    return new Body<>(
        maxBytes, type, new Text(), text -> then.accept(Json.decode(text.toByteArray())));
  }

  /** {@return the body of a batch, of which the step gets the elements} */
  public static Body<?> batch(int maxBytes, Consumer<Elements> then) {
    return new Body<>(maxBytes, Json.MEDIA_TYPE, new Elements(), then);
  }

  /** A body that becomes a text. */
  private static final class Text extends ByteArrayOutputStream implements Consumer<ByteBuffer> {
    @Override
    public void accept(ByteBuffer more) {
      writeBytes(BufferUtil.toArray(more));
    }
  }
}
