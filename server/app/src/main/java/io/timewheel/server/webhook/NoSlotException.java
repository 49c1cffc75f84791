// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import java.io.IOException;

/** Thrown if a delivery cannot start: usually, its namespace has too many slow lookups. */
final class NoSlotException extends IOException {
  private static final long serialVersionUID = 1L;

  NoSlotException() {
    super("no lookup could start");
  }
}
