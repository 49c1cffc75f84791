// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Texts out of URLs. */
final class Names {
  private static final int MAX_BYTES = 256;

  private Names() {}

  /** Decodes a segment of a path; a plus is a plus. */
  static String decode(String what, String encoded) {
    ByteBuffer bytes = ByteBuffer.allocate(encoded.length());
    for (int i = 0; i < encoded.length(); i++) {
      char c = encoded.charAt(i);
      if (c == '%') {
        int high = i + 2 < encoded.length() ? Character.digit(encoded.charAt(i + 1), 16) : -1;
        int low = i + 2 < encoded.length() ? Character.digit(encoded.charAt(i + 2), 16) : -1;
        if (high < 0 || low < 0) {
          throw malformed(what);
        }
        bytes.put((byte) (high * 16 + low));
        i += 2;
      } else if (c > ' ' && c < 0x7f) {
        bytes.put((byte) c);
      } else {
        throw malformed(what);
      }
    }
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(bytes.flip()).toString();
    } catch (CharacterCodingException e) {
      throw malformed(what);
    }
  }

  private static Problem.Failure malformed(String what) {
    return Problem.malformed(what + ": not percent-encoded UTF-8").at(what).failure();
  }

  /** Reads a query; a plus is a blank, as forms have it. */
  static Map<String, List<String>> query(@Nullable String query) {
    Map<String, List<String>> values = new LinkedHashMap<>();
    if (query == null || query.isEmpty()) {
      return values;
    }
    for (String pair : query.split("&", -1)) {
      int equals = pair.indexOf('=');
      String name = decode("query", (equals < 0 ? pair : pair.substring(0, equals)));
      String value = equals < 0 ? "" : pair.substring(equals + 1).replace("+", "%20");
      values.computeIfAbsent(name, key -> new ArrayList<>()).add(decode(name, value));
    }
    return values;
  }

  /** Checks a name that stands in a path, where dots alone would be lost on the way. */
  static String checked(String what, String name) {
    int bytes = name.getBytes(StandardCharsets.UTF_8).length;
    boolean control = name.chars().anyMatch(Character::isISOControl);
    if (bytes == 0 || bytes > MAX_BYTES || control || name.equals(".") || name.equals("..")) {
      throw Problem.malformed(
              what
                  + ": not a name (expected: 1 to "
                  + MAX_BYTES
                  + " bytes of UTF-8 without control characters, not . or ..)")
          .at(what)
          .failure();
    }
    return name;
  }
}
