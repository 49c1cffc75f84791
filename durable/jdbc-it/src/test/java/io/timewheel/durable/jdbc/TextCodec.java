// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import io.timewheel.durable.PayloadCodec;
import java.nio.charset.StandardCharsets;

/** Encodes payloads that are texts. */
final class TextCodec implements PayloadCodec {
  @Override
  public byte[] encode(Object payload) {
    return payload.toString().getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public <T> T decode(byte[] payload, Class<T> type) {
    return type.cast(new String(payload, StandardCharsets.UTF_8));
  }
}
