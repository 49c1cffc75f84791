// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import io.timewheel.durable.spi.StoreListener;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;

/**
 * Waits for hints of other nodes, on a connection of its own. What it misses, while there is no
 * connection, the engine finds when it looks again.
 */
final class HintThread implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(JdbcTimerStore.class.getName());
  private static final int WAIT_MILLIS = 500;
  private static final long RETRY_MILLIS = 2_000;

  private final DataSource source;
  private final Dialect dialect;
  private final String channel;
  private final StoreListener engine;
  private final Transactions.Pauses pauses;
  private final Counters counters;
  private volatile boolean closed;

  HintThread(
      DataSource source,
      Dialect dialect,
      String channel,
      StoreListener engine,
      Transactions.Pauses pauses,
      Counters counters) {
    this.source = source;
    this.dialect = dialect;
    this.channel = channel;
    this.engine = engine;
    this.pauses = pauses;
    this.counters = counters;
    Thread thread = new Thread(this::run, "timewheel-hints");
    thread.setDaemon(true);
    thread.start();
  }

  private void run() {
    boolean complained = false;
    while (!closed) {
      try (Connection connection = source.getConnection()) {
        connection.setAutoCommit(true);
        dialect.listen(connection, channel);
        complained = false;
        while (!closed) {
          for (String hint : dialect.hints(connection, WAIT_MILLIS)) {
            counters.hintsReceived.increment();
            Hints.tell(hint, engine);
          }
        }
        dialect.unlisten(connection, channel);
      } catch (SQLException | RuntimeException e) {
        if (!complained && !closed) {
          complained = true;
          LOG.log(
              System.Logger.Level.WARNING,
              "no hints of other nodes: what they add is found up to half a second later",
              e);
        }
        pauses.pause(RETRY_MILLIS);
      }
    }
  }

  /** Its connection goes back to the pool within half a second. */
  @Override
  public void close() {
    closed = true;
  }
}
