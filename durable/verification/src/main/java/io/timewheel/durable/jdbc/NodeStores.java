// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import io.timewheel.durable.spi.TimerStore;
import java.time.InstantSource;
import javax.sql.DataSource;

/**
 * Opens stores of nodes whose clocks are wrong. Here because a store has no other clock to give.
 */
public final class NodeStores {
  private NodeStores() {}

  /**
   * Opens a store on PostgreSQL.
   *
   * @param source where connections come from
   * @param name of the node
   * @param clock of the node
   */
  public static TimerStore postgresql(DataSource source, String name, InstantSource clock) {
    JdbcTimerStore.Builder builder = JdbcTimerStore.postgresqlBuilder(source).node(name);
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
    return builder.open();
  }
}
