// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.notifications;

import io.timewheel.durable.jdbc.internal.sql.Log;
import io.timewheel.durable.jdbc.internal.sql.NodeClock;
import io.timewheel.durable.jdbc.internal.transaction.Counters;
import io.timewheel.durable.jdbc.internal.transaction.Transactions;
import io.timewheel.durable.spi.StoreListener;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/**
 * Waits for notifications of other nodes, on a connection of its own. The engine finds the timers
 * of missed notifications with its next lookup.
 *
 * <p>A connection that only receives does not notice a lost server or network. So after a time
 * without notifications, this thread sends a query to the server.
 */
public final class NotificationThread implements AutoCloseable {
  private static final int WAIT_MILLIS = 500;
  private static final long RETRY_MILLIS = 2_000;
  private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final int ANSWER_SECONDS = 5;

  private final DataSource source;
  private final NotificationChannel channel;
  private final StoreListener engine;
  private final Runnable onPause;
  private final NodeClock clock;
  private final Transactions.Pauses pauses;
  private final Counters counters;
  private volatile boolean closed;

  public NotificationThread(
      DataSource source,
      NotificationChannel channel,
      StoreListener engine,
      Runnable onPause,
      NodeClock clock,
      Transactions.Pauses pauses,
      Counters counters) {
    this.source = source;
    this.channel = channel;
    this.engine = engine;
    this.onPause = onPause;
    this.clock = clock;
    this.pauses = pauses;
    this.counters = counters;
    Thread thread = new Thread(this::run, "timewheel-notifications");
    thread.setDaemon(true);
    thread.start();
  }

  private void run() {
    boolean complained = false;
    while (!closed) {
      try (Connection connection = source.getConnection()) {
        connection.setAutoCommit(true);
        try {
          channel.listen(connection);
          complained = false;
          receive(connection);
          channel.unlisten(connection);
        } catch (SQLException | RuntimeException | Error e) {
          // It may still listen, and the pool may still consider it valid.
          connection.abort(Runnable::run);
          throw e;
        }
      } catch (SQLException | RuntimeException | Error e) {
        if (!complained && !closed) {
          complained = true;
          Log.LOG.log(
              System.Logger.Level.WARNING,
              "no notifications from other nodes: timers that they add are found up to 0.5 s later",
              e);
        }
        pauses.pause(RETRY_MILLIS);
      }
    }
  }

  private void receive(Connection connection) throws SQLException {
    long heardNanos = clock.nanoTime();
    while (!closed) {
      List<String> notifications = channel.receive(connection, WAIT_MILLIS);
      for (String notification : notifications) {
        counters.notificationsReceived.increment();
        Notifications.tell(notification, engine, onPause);
      }
      boolean quiet = notifications.isEmpty() && clock.nanoTime() - heardNanos >= QUIET_NANOS;
      if (quiet && !connection.isValid(ANSWER_SECONDS)) {
        throw new SQLException("the server does not answer on the connection that listens");
      }
      if (quiet || !notifications.isEmpty()) {
        heardNanos = clock.nanoTime();
      }
    }
  }

  /** Ends the thread. If the server answers, the pool gets its connection back within 0.5 s. */
  @Override
  public void close() {
    closed = true;
  }
}
