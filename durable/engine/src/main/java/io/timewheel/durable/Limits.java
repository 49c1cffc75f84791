// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.InvalidArgumentException;
import io.timewheel.durable.model.TimerKey;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;

/** Checks the size and content of the parts of a timer. */
final class Limits {
  static final int MAX_NAME_BYTES = 256;
  static final int MAX_PAYLOAD_BYTES = 64 * 1024;
  static final int MAX_HEADERS_BYTES = 8 * 1024;

  private Limits() {}

  /** Checks a namespace, an id, or the name of a handler or queue. */
  static String name(String what, String name) {
    requireNonNull(name, what);
    int bytes = name.getBytes(StandardCharsets.UTF_8).length;
    if (bytes == 0 || bytes > MAX_NAME_BYTES) {
      throw new InvalidArgumentException(
          what + ": " + bytes + " bytes (expected: 1 to " + MAX_NAME_BYTES + ")");
    }
    for (int i = 0; i < name.length(); i++) {
      char unit = name.charAt(i);
      boolean lone =
          Character.isSurrogate(unit)
              && !(Character.isHighSurrogate(unit)
                  && i + 1 < name.length()
                  && Character.isLowSurrogate(name.charAt(i + 1)))
              && !(Character.isLowSurrogate(unit)
                  && i > 0
                  && Character.isHighSurrogate(name.charAt(i - 1)));
      if (Character.isISOControl(unit) || lone) {
        throw new InvalidArgumentException(
            what
                + ": character U+%04X at %d (expected: no control character, no lone surrogate)"
                    .formatted((int) unit, i));
      }
    }
    return name;
  }

  static TimerKey key(String namespace, String id) {
    return new TimerKey(name("namespace", namespace), name("id", id));
  }

  static TimerKey key(TimerKey key) {
    requireNonNull(key, "key");
    name("namespace", key.namespace());
    name("id", key.id());
    return key;
  }

  /** Checks a required version, where zero means any. */
  static void version(long version) {
    if (version < 0) {
      throw new InvalidArgumentException(
          "version: " + version + " (expected: a version from a result, or 0 for any)");
    }
  }

  static byte[] payload(byte[] payload) {
    requireNonNull(payload, "payload");
    if (payload.length > MAX_PAYLOAD_BYTES) {
      throw new InvalidArgumentException(
          "payload: " + payload.length + " bytes (expected: at most " + MAX_PAYLOAD_BYTES + ")");
    }
    return payload;
  }

  static Map<String, String> headers(Map<String, String> headers) {
    requireNonNull(headers, "headers");
    long bytes = 0;
    for (Map.Entry<String, String> header : headers.entrySet()) {
      name("header", header.getKey());
      requireNonNull(header.getValue(), "header value");
      bytes += header.getKey().getBytes(StandardCharsets.UTF_8).length;
      bytes += header.getValue().getBytes(StandardCharsets.UTF_8).length;
    }
    if (bytes > MAX_HEADERS_BYTES) {
      throw new InvalidArgumentException(
          "headers: " + bytes + " bytes (expected: at most " + MAX_HEADERS_BYTES + ")");
    }
    return Map.copyOf(headers);
  }

  static void count(String name, int value, int max) {
    if (value < 1 || value > max) {
      throw new InvalidArgumentException(name + ": " + value + " (expected: 1 to " + max + ")");
    }
  }

  static void between(String name, Duration value, Duration min, Duration max) {
    requireNonNull(value, name);
    if (value.compareTo(min) < 0 || value.compareTo(max) > 0) {
      throw new InvalidArgumentException(
          name + ": " + value + " (expected: " + min + " to " + max + ")");
    }
  }
}
