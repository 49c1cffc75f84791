// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.json;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A page of a list as JSON, of at most {@link #MAX_BYTES}. Each element is encoded separately, in
 * small parts that can be freed one by one. Not thread-safe.
 */
public final class JsonPage {
  /** The size of the largest answer. */
  public static final int MAX_BYTES = 4 << 20;

  /** The number of bytes reserved for the end of the object, with a page token. */
  private static final int END_BYTES = 4 * 1024;

  private static final byte[] COMMA = {','};

  private final Parts parts = new Parts();
  private boolean isEmpty = true;

  /** Begins a page whose elements are in a field. */
  public JsonPage(String name) {
    parts.write(("{\"" + name + "\":[").getBytes(US_ASCII));
  }

  /**
   * Adds an element if there is room for it. The first element always fits.
   *
   * @return false if the page ends before this element
   */
  public boolean add(Record element) {
    byte[] json = Json.bytes(element);
    if (!isEmpty && parts.length + json.length + END_BYTES > MAX_BYTES) {
      return false;
    }
    if (!isEmpty) {
      parts.write(COMMA);
    }
    parts.write(json);
    isEmpty = false;
    return true;
  }

  /** {@return the page, with the token of the next page unless this is the last} */
  public List<ByteBuffer> end(@Nullable String nextPageToken) {
    String next = nextPageToken == null ? "" : ",\"nextPageToken\":" + Json.text(nextPageToken);
    parts.write(("]" + next + "}").getBytes(UTF_8));
    return parts.end();
  }

  /** Bytes in parts that grow up to a maximum size, because G1 handles large arrays badly. */
  private static final class Parts {
    private static final int FIRST = 1024;
    private static final int LARGEST = 64 * 1024;

    private final List<ByteBuffer> parts = new ArrayList<>();
    private ByteBuffer last = ByteBuffer.allocate(FIRST);
    private long length;

    void write(byte[] bytes) {
      for (int done = 0; done < bytes.length; ) {
        if (!last.hasRemaining()) {
          parts.add(last.flip());
          last = ByteBuffer.allocate(Math.min(LARGEST, 2 * last.capacity()));
        }
        int some = Math.min(bytes.length - done, last.remaining());
        last.put(bytes, done, some);
        done += some;
      }
      length += bytes.length;
    }

    List<ByteBuffer> end() {
      parts.add(last.flip());
      return parts;
    }
  }
}
