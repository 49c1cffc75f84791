// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import io.timewheel.server.problem.Problem;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** Decodes the percent-encoded parts of URLs. */
final class PercentDecoder {
  private PercentDecoder() {}

  /** Decodes a segment of a path, in which a plus stays a plus. */
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
}
