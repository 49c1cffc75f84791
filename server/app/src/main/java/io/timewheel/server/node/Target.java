// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.node;

import io.timewheel.durable.spi.record.TimerDefinition;
import io.timewheel.server.webhook.DeliveryName;

/** The kind of target of a timer. */
public enum Target {
  QUEUE,
  WEBHOOK,
  HANDLER;

  static Target of(TimerDefinition definition) {
    return definition.queue()
        ? QUEUE
        : definition.handler().startsWith(DeliveryName.PREFIX) ? WEBHOOK : HANDLER;
  }
}
