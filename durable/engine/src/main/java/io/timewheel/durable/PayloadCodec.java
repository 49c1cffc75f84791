// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.durable.model.UnreadablePayloadException;

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

  /**
   * Decodes an object for a handler. Replaces any exception of {@link #decode}.
   *
   * @param payload the bytes
   * @param type the type of the object
   * @param <T> the type of the object
   * @return the object
   * @throws UnreadablePayloadException if the payload cannot be decoded
   */
  default <T> T read(byte[] payload, Class<T> type) {
    try {
      return decode(payload, type);
    } catch (UnreadablePayloadException e) {
      throw e;
    } catch (RuntimeException e) {
      throw new UnreadablePayloadException(type, e);
    }
  }
}
