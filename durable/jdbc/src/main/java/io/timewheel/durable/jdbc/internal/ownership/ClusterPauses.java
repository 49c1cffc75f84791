// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.ownership;

import io.timewheel.durable.jdbc.internal.notifications.NotificationChannel;
import io.timewheel.durable.jdbc.internal.notifications.Notifications;
import io.timewheel.durable.jdbc.internal.server.Queries;
import io.timewheel.durable.jdbc.internal.server.ServerParts;
import io.timewheel.durable.jdbc.internal.server.TransactionSql;
import io.timewheel.durable.jdbc.internal.sql.Log;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.jdbc.internal.transaction.Transactions;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreListener;
import io.timewheel.durable.spi.TimerStore;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Applies pauses on all nodes. Each pause has a number. A node reads the pauses with each tick of
 * its lease thread and after each notification, and applies new ones to its engine. It renews its
 * node lease only if that succeeded. The transaction of a claim reads the pauses, too, so no claim
 * commits after a pause.
 */
public final class ClusterPauses {
  private final Transactions transactions;
  private final TransactionSql sql;
  private final Queries queries;
  private final @Nullable NotificationChannel notifications;

  /** The numbers of the pauses that the engine was notified of. */
  private volatile Map<String, Long> applied = Map.of();

  private volatile @Nullable StoreListener listener;

  /**
   * @param notifications notifies the other nodes; null without notifications
   */
  public ClusterPauses(
      Transactions transactions, ServerParts server, @Nullable NotificationChannel notifications) {
    this.transactions = transactions;
    sql = server.transactions();
    queries = server.queries();
    this.notifications = notifications;
  }

  /** Registers the engine, which has no claims yet. */
  public void start(StoreListener engine) {
    listener = engine;
  }

  /** Applies new pauses to the engine. Holds no lock, because the engine calls executors. */
  public void apply() {
    StoreListener engine = listener;
    if (engine == null) {
      return;
    }
    Map<String, Long> before = applied;
    Map<String, Long> present = transactions.read(queries::pauseNumbers);
    present.forEach(
        (scope, number) -> {
          if (!number.equals(before.get(scope))) {
            engine.paused(scope);
          }
        });
    applied = present;
  }

  /** Implements {@link TimerStore#pause}. */
  public void pause(String scope) {
    transactions.change(
        connection -> {
          queries.lockPauses(connection);
          queries.resume(connection, scope);
          queries.pause(connection, scope);
        });
    notifyNodes();
    apply();
  }

  /** Implements {@link TimerStore#resume}. */
  public void resume(String scope) {
    transactions.change(connection -> queries.resume(connection, scope));
  }

  private void notifyNodes() {
    if (notifications == null) {
      return;
    }
    try {
      boolean unused =
          transactions.writeOnce(
              connection -> {
                try (Statements to = new Statements(connection)) {
                  Statements.Answer<Long> unusedVersion = sql.begin(to, false);
                  notifications.send(to, Notifications.PAUSES);
                  to.send();
                }
                return true;
              });
    } catch (StoreException e) {
      Log.LOG.log(System.Logger.Level.DEBUG, "nodes see a pause with their next tick", e);
    }
  }
}
