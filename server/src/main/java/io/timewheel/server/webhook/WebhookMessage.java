// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import java.util.Map;

/**
 * What is posted to a target.
 *
 * @param namespace the namespace of the timer
 * @param id the fire id, the same for all attempts
 * @param body the payload, as it was sent
 * @param headers the rest of the firing, as {@code timewheel-…}
 */
@SuppressWarnings("ArrayRecordComponent") // compared by nobody
public record WebhookMessage(
    String namespace, String id, byte[] body, Map<String, String> headers) {
  /** {@return the id alone} */
  @Override
  public String toString() {
    return "WebhookMessage(" + id + ")";
  }
}
