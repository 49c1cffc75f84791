// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

/** Turns objects into the bytes of payloads and back. */
public interface PayloadCodec {
  /**
   * Writes an object.
   *
   * @param payload the object
   * @return its bytes
   */
  byte[] encode(Object payload);

  /**
   * Reads an object.
   *
   * @param payload the bytes
   * @param type what they are to be
   * @param <T> what they are to be
   * @return the object
   */
  <T> T decode(byte[] payload, Class<T> type);
}
