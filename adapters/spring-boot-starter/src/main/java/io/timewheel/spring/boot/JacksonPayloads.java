// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import io.timewheel.durable.PayloadCodec;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** Encodes payloads as JSON, with the Jackson 3 of the application. */
final class JacksonPayloads implements PayloadCodec {
  private final JsonMapper mapper;

  JacksonPayloads(JsonMapper mapper) {
    this.mapper = mapper;
  }

  @Override
  public byte[] encode(Object payload) {
    try {
      return mapper.writeValueAsBytes(payload);
    } catch (JacksonException e) {
      throw PayloadErrors.unwritable(payload, e);
    }
  }

  @Override
  public <T> T decode(byte[] payload, Class<T> type) {
    return PayloadErrors.present(mapper.readValue(payload, type), type);
  }
}
