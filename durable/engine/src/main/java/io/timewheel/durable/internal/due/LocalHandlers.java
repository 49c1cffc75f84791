// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

/** The names of the handlers that run on this node. They do not change once a shard exists. */
public interface LocalHandlers {
  boolean knows(String handler);

  /** Returns the number of shares into which the room for overdue timers is divided. */
  int shares();
}
