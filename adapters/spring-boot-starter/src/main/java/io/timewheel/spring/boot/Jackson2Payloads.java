// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.timewheel.durable.PayloadCodec;
import io.timewheel.durable.model.UnreadablePayloadException;
import java.io.IOException;

/** Encodes payloads as JSON, with the Jackson 2 of the application (Spring Boot 3.5). */
final class Jackson2Payloads implements PayloadCodec {
  private final ObjectMapper mapper;

  Jackson2Payloads(ObjectMapper mapper) {
    this.mapper = mapper;
  }

  @Override
  public byte[] encode(Object payload) {
    try {
      return mapper.writeValueAsBytes(payload);
    } catch (IOException e) {
      throw PayloadErrors.unwritable(payload, e);
    }
  }

  @Override
  public <T> T decode(byte[] payload, Class<T> type) {
    try {
      return PayloadErrors.present(mapper.readValue(payload, type), type);
    } catch (IOException e) {
      throw new UnreadablePayloadException(type, e);
    }
  }
}
