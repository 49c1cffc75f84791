// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import io.timewheel.durable.jdbc.internal.sql.NodeClock;
import java.time.InstantSource;

/**
 * Opens stores of nodes whose clocks are wrong. Here because a store has no other clock to give.
 */
public final class NodeStores {
  private NodeStores() {}

  /**
   * Opens a store.
   *
   * @param builder of the store
   * @param name of the node
   * @param clock of the node
   */
  public static JdbcTimerStore open(
      JdbcTimerStore.Builder builder, String name, InstantSource clock) {
    builder.clock =
        new NodeClock() {
          @Override
          public long nanoTime() {
            return System.nanoTime();
          }

          @Override
          public long millis() {
            return clock.millis();
          }
        };
    return builder.node(name).open();
  }
}
