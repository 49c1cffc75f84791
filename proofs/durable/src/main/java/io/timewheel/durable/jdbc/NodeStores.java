// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import io.timewheel.durable.jdbc.internal.sql.NodeClock;
import java.time.InstantSource;

/**
 * Opens stores of nodes with wrong clocks. This class is in the package of the store, because the
 * store's clock is not public.
 */
public final class NodeStores {
  private NodeStores() {}

  /**
   * Opens a store.
   *
   * @param builder the builder of the store
   * @param name the name of the node
   * @param clock the clock of the node
   */
  public static JdbcTimerStore open(
      JdbcTimerStoreBuilder builder, String name, InstantSource clock) {
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
