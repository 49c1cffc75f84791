// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.model;

import static java.util.Objects.requireNonNull;

import java.nio.charset.StandardCharsets;

/**
 * Identifies a request, so that a repetition is recognised. The store commits it with the change
 * and the answer, and keeps it for {@link #KEPT_HOURS} hours. A repetition gets the answer of the
 * first request, on any node, and changes nothing.
 *
 * @param id an ID that no other request for the same timer has; 1 to 256 bytes of UTF-8, no control
 *     characters
 * @param digest the content of the request, or a digest of it; up to 256 bytes. A request with the
 *     same ID and another digest is refused with {@link
 *     DurableTimerException.Reason#REQUEST_DIFFERS}
 */
public record RequestId(String id, String digest) {
  /** The hours for which a store keeps the answer. */
  public static final int KEPT_HOURS = 24;

  private static final int MAX_BYTES = 256;

  /**
   * Checks the ranges.
   *
   * @param id an ID that no other request for the same timer has; 1 to 256 bytes of UTF-8, no
   *     control characters
   * @param digest the content of the request, or a digest of it; up to 256 bytes. A request with
   *     the same ID and another digest is refused with {@link
   *     DurableTimerException.Reason#REQUEST_DIFFERS}
   */
  public RequestId {
    int idBytes = check("id", requireNonNull(id, "id"));
    if (idBytes == 0) {
      throw new InvalidArgumentException("requestId: 0 bytes (expected: 1 to " + MAX_BYTES + ")");
    }
    int unused = check("digest", requireNonNull(digest, "digest"));
  }

  private static int check(String part, String text) {
    int bytes = text.getBytes(StandardCharsets.UTF_8).length;
    if (bytes > MAX_BYTES || text.chars().anyMatch(Character::isISOControl)) {
      throw new InvalidArgumentException(
          "requestId: its "
              + part
              + " has "
              + bytes
              + " bytes, or control characters (expected: up to "
              + MAX_BYTES
              + ", none)");
    }
    return bytes;
  }

  /**
   * Creates the ID of a request whose content is not compared.
   *
   * @param id an ID that no other request for the same timer has
   * @return the request ID
   */
  public static RequestId of(String id) {
    return new RequestId(id, "");
  }
}
