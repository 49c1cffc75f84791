// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.model;

import static java.util.Objects.requireNonNull;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/**
 * The identity of one run of a timer. All attempts of the run have the same fire ID, so handlers
 * can use it to make their effects idempotent. Its text form is opaque and contains only {@code A-Z
 * a-z 0-9 _ -}.
 *
 * @param key the timer
 * @param version the version that fires
 * @param scheduledAtMillis the scheduled time of the run, in milliseconds since 1970
 */
public record FireId(TimerKey key, long version, long scheduledAtMillis) {
  private static final int NUMBERS_LENGTH = 2 * Long.BYTES + Short.BYTES;

  /**
   * Checks that there is a key.
   *
   * @param key the timer
   * @param version the version that fires
   * @param scheduledAtMillis the scheduled time of the run, in milliseconds since 1970
   */
  public FireId {
    requireNonNull(key, "key");
  }

  /**
   * Parses the text form.
   *
   * @param text the result of {@link #toString}
   * @return the fire ID
   * @throws IllegalArgumentException if the text is not a fire ID
   */
  public static FireId parse(String text) {
    requireNonNull(text, "text");
    try {
      ByteBuffer bytes = ByteBuffer.wrap(Base64.getUrlDecoder().decode(text));
      long version = bytes.getLong();
      long scheduledAtMillis = bytes.getLong();
      byte[] namespace = new byte[Short.toUnsignedInt(bytes.getShort())];
      bytes.get(namespace);
      byte[] id = new byte[bytes.remaining()];
      bytes.get(id);
      FireId fireId =
          new FireId(
              new TimerKey(
                  new String(namespace, StandardCharsets.UTF_8),
                  new String(id, StandardCharsets.UTF_8)),
              version,
              scheduledAtMillis);
      if (fireId.toString().equals(text)) {
        return fireId;
      }
    } catch (IllegalArgumentException | BufferUnderflowException e) {
      throw new InvalidArgumentException("fireId: " + text + " (expected: a fire id)", e);
    }
    throw new InvalidArgumentException("fireId: " + text + " (expected: a fire id)");
  }

  @Override
  public String toString() {
    byte[] namespace = key.namespace().getBytes(StandardCharsets.UTF_8);
    byte[] id = key.id().getBytes(StandardCharsets.UTF_8);
    ByteBuffer bytes = ByteBuffer.allocate(NUMBERS_LENGTH + namespace.length + id.length);
    bytes.putLong(version).putLong(scheduledAtMillis).putShort((short) namespace.length);
    bytes.put(namespace).put(id);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes.array());
  }
}
