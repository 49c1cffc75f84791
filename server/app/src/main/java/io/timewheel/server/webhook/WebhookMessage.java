// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import java.util.Map;

/**
 * A message to a target.
 *
 * @param namespace the namespace of the timer
 * @param id the fire ID, the same for all attempts
 * @param body the payload, unchanged
 * @param headers the other parts of the firing, as {@code timewheel-…}
 */
@SuppressWarnings("ArrayRecordComponent") // messages are never compared
public record WebhookMessage(
    String namespace, String id, byte[] body, Map<String, String> headers) {
  /** {@return only the ID} */
  @Override
  public String toString() {
    return "WebhookMessage(" + id + ")";
  }
}
