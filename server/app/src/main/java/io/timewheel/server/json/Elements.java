// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.json;

import io.timewheel.server.problem.Problem;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The body of a batch: an object with an array. The elements of the array are separated as the
 * bytes arrive. Later each of them is parsed, converted and freed before the next one. So a batch
 * is never in memory as a whole text. Not thread-safe.
 *
 * <p>The separation only counts brackets and strings; the parser checks the syntax. White space
 * between elements is dropped.
 */
public final class Elements implements Consumer<ByteBuffer> {
  /** The largest number of elements. */
  public static final int MAX_ELEMENTS = 1_000;

  /** The largest size of an element, and of the rest of the body: that of the body of a PUT. */
  static final int MAX_BYTES = 256 * 1024;

  /** The depth of the elements: in an array in an object. */
  private static final int DEPTH = 2;

  private final Deque<byte[]> elements = new ArrayDeque<>();
  private final Bytes rest = new Bytes();
  private final Bytes element = new Bytes();
  private int depth;
  private boolean inString;
  private boolean escaped;
  private boolean afterComma;

  @Override
  public void accept(ByteBuffer bytes) {
    while (bytes.hasRemaining()) {
      add(bytes.get());
    }
  }

  private void add(byte unit) {
    Bytes to = depth < DEPTH ? rest : element;
    if (inString) {
      inString = escaped || unit != '"';
      escaped = unit == '\\' && !escaped;
    } else if (unit == '"') {
      inString = true;
    } else if (unit == '{' || unit == '[') {
      depth++;
    } else if (unit == '}' || unit == ']') {
      if (--depth == DEPTH - 1) {
        if (afterComma || element.size > 0) {
          endElement();
        }
        afterComma = false;
        to = rest;
      }
    } else if (unit == ',' && depth == DEPTH) {
      endElement();
      afterComma = true;
      return;
    } else if (depth <= DEPTH && (unit == ' ' || unit == '\n' || unit == '\r' || unit == '\t')) {
      return;
    }
    to.add(unit);
  }

  private void endElement() {
    byte[] ended = element.take();
    if (elements.size() <= MAX_ELEMENTS) {
      elements.add(ended);
    }
  }

  /**
   * Parses the body, once, and converts each element as soon as it is parsed. An element that is
   * not JSON refuses the whole body; any other fault refuses the element alone.
   *
   * @param document the type of the object, with the field of the array
   * @param field the name of the array
   * @param type the type of an element
   * @param id the field that contains the ID of an element
   * @param then converts an element
   */
  public <T, R> List<R> convert(
      Class<?> document, String field, Class<T> type, String id, Function<Parsed<T>, R> then) {
    if (rest.size > MAX_BYTES) {
      throw Problem.tooLarge("the body without the elements of " + field, MAX_BYTES).failure();
    }
    var unused = JsonReader.read(Json.decode(rest.take()), document);
    if (elements.isEmpty() || elements.size() > MAX_ELEMENTS) {
      String size = elements.isEmpty() ? "none" : "more than " + MAX_ELEMENTS;
      throw Problem.invalid(field, field + ": " + size + " (expected: 1 to " + MAX_ELEMENTS + ")")
          .failure();
    }
    List<R> converted = new ArrayList<>(elements.size());
    while (!elements.isEmpty()) {
      Parsed<T> parsed;
      try {
        parsed = Parsed.of(elements.remove(), type, id);
      } catch (Problem.Failure e) {
        throw Problem.malformed(field + "[" + converted.size() + "]: " + e.problem().detail())
            .failure();
      }
      converted.add(then.apply(parsed));
    }
    return converted;
  }

  /** Bytes up to the largest size of an element, and one more. */
  private static final class Bytes {
    private static final int FIRST = 512;

    private byte[] bytes = new byte[FIRST];
    private int size;

    void add(byte unit) {
      if (size == bytes.length && size <= MAX_BYTES) {
        bytes = Arrays.copyOf(bytes, Math.min(2 * size, MAX_BYTES + 1));
      }
      if (size < bytes.length) {
        bytes[size++] = unit;
      }
    }

    byte[] take() {
      byte[] taken = Arrays.copyOf(bytes, size);
      size = 0;
      return taken;
    }
  }
}
