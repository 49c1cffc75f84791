// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

/** Converts objects to the bytes of payloads and back. */
public interface PayloadCodec {
  /**
   * Encodes an object.
   *
   * @param payload the object
   * @return its bytes
   */
  byte[] encode(Object payload);

  /**
   * Decodes an object.
   *
   * @param payload the bytes
   * @param type the type of the object
   * @param <T> the type of the object
   * @return the object
   */
  <T> T decode(byte[] payload, Class<T> type);
}
