// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.event;

import io.timewheel.api.TimerEvent;
import io.timewheel.server.json.Json;
import io.timewheel.server.node.ChangeFeed;
import java.nio.charset.StandardCharsets;
import java.time.Instant;

/** Encodes a server-sent event as bytes. */
final class EventMessage {
  private EventMessage() {}

  /** {@return the event of a change} */
  static byte[] of(String id, ChangeFeed.Change change) {
    TimerEvent event =
        new TimerEvent(
            Instant.ofEpochMilli(change.atMillis()),
            change.key().namespace(),
            change.key().id(),
            change.version(),
            Json.name(change.state()),
            change.kind());
    return of(id, "timer", Json.bytes(event));
  }

  /** {@return an event; its data must be one line} */
  static byte[] of(String id, String event, byte[] data) {
    byte[] head = ("id: " + id + "\nevent: " + event + "\ndata: ").getBytes(StandardCharsets.UTF_8);
    byte[] message = new byte[head.length + data.length + 2];
    System.arraycopy(head, 0, message, 0, head.length);
    System.arraycopy(data, 0, message, head.length, data.length);
    message[message.length - 2] = '\n';
    message[message.length - 1] = '\n';
    return message;
  }
}
