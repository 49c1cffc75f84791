// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

/** Stands in for a missing codec: every call throws. */
final class NoCodec implements PayloadCodec {
  @Override
  public byte[] encode(Object payload) {
    throw missing();
  }

  @Override
  public <T> T decode(byte[] payload, Class<T> type) {
    throw missing();
  }

  private static IllegalArgumentException missing() {
    return new IllegalArgumentException(
        "no codec (expected: DurableTimerBuilder.codec, for payloads that are objects)");
  }
}
