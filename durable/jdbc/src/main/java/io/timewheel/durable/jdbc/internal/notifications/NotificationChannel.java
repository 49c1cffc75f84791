// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.notifications;

import io.timewheel.durable.jdbc.internal.server.NotificationTransport;
import io.timewheel.durable.jdbc.internal.sql.Log;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Sends and receives the notifications between nodes. A database whose notification queue is full
 * refuses the whole commit. The node then sends none for a minute, and other nodes find near timers
 * with their next lookup.
 */
public final class NotificationChannel {
  private static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final NotificationTransport transport;
  private final String name;
  private final LongSupplier nanoTime;
  private volatile @Nullable Long refusedNanos;

  public NotificationChannel(NotificationTransport transport, String name, LongSupplier nanoTime) {
    this.transport = transport;
    this.name = name;
    this.nanoTime = nanoTime;
  }

  /** {@return whether commits may contain notifications} */
  public boolean isOpen() {
    Long since = refusedNanos;
    return since == null || nanoTime.getAsLong() - since >= QUIET_NANOS;
  }

  /** Sends a notification to other nodes, if the transaction commits. */
  public void send(Statements to, String text) {
    transport.send(to, name, text);
  }

  /**
   * {@return whether the database may have refused a commit because it contained a notification}
   */
  public boolean isRefusal(SQLException failure) {
    return transport.isRefusal(failure);
  }

  /**
   * Pauses notifications after a commit that failed with its notification and succeeded without it.
   */
  public void refused() {
    refusedNanos = nanoTime.getAsLong();
    Log.LOG.log(
        System.Logger.Level.WARNING,
        "the notification queue of the database is full, so no notifications are sent for a minute:"
            + " a session listens without reading");
  }

  void listen(Connection connection) throws SQLException {
    transport.listen(connection, name);
  }

  void unlisten(Connection connection) throws SQLException {
    transport.unlisten(connection, name);
  }

  /**
   * Waits for notifications.
   *
   * @return the received notifications; none after the timeout
   */
  List<String> receive(Connection connection, int timeoutMillis) throws SQLException {
    return transport.receive(connection, timeoutMillis);
  }
}
