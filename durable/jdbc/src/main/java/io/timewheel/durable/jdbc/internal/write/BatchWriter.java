// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.write;

import io.timewheel.durable.jdbc.internal.notifications.NotificationChannel;
import io.timewheel.durable.jdbc.internal.server.ServerParts;
import io.timewheel.durable.jdbc.internal.sql.Log;
import io.timewheel.durable.jdbc.internal.transaction.Counters;
import io.timewheel.durable.jdbc.internal.transaction.Transactions;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Commits write batches and claims, and compacts the counter rows that their transactions insert.
 * Thread-safe.
 */
public final class BatchWriter {
  /** The number of batches after which the counter rows are compacted. */
  private static final int BATCHES_PER_COMPACTION = 500;

  private final Transactions transactions;
  private final WriteContext context;
  private final @Nullable NotificationChannel notifications;
  private final QueueLeases leases;
  private final DirectWrites direct;
  private final AtomicInteger batches = new AtomicInteger();

  /**
   * Creates the writer of a store.
   *
   * @param notifications sends notifications to other nodes; null without notifications
   * @param ownEpoch the epoch under which this session owns a shard; null if it does not own it
   */
  public BatchWriter(
      Transactions transactions,
      ServerParts server,
      Counters counters,
      @Nullable NotificationChannel notifications,
      LongSupplier nanoTime,
      int shards,
      Function<Integer, @Nullable Long> ownEpoch) {
    this.transactions = transactions;
    this.notifications = notifications;
    leases = new QueueLeases(transactions, server, batches::incrementAndGet);
    context =
        new WriteContext(
            server, counters, new Novelty(nanoTime), new HeldTimers(), shards, ownEpoch, null);
    direct = new DirectWrites(transactions, context);
  }

  /** Prepares changes of this session, which one transaction commits. */
  public WriteBatch batch(List<Change> changes) {
    return batch(changes, context.ownEpoch(), openNotifications());
  }

  /**
   * Prepares changes of a user's transaction, whose outcome this session does not learn. So
   * notifications about the session's own shards are also sent.
   */
  public WriteBatch unheardBatch(List<Change> changes) {
    return batch(changes, shard -> null, openNotifications());
  }

  private @Nullable NotificationChannel openNotifications() {
    return notifications != null && notifications.isOpen() ? notifications : null;
  }

  private WriteBatch batch(
      List<Change> changes,
      Function<Integer, @Nullable Long> epochs,
      @Nullable NotificationChannel channel) {
    batches.incrementAndGet();
    return new WriteBatch(context.with(epochs, channel), changes);
  }

  /** Implements {@link TimerStore#commit}. */
  public List<Outcome> commit(List<Change> changes) {
    NotificationChannel channel = openNotifications();
    List<Outcome> outcomes = direct.commit(changes, channel);
    if (outcomes == null) {
      outcomes = commitBatch(changes, channel);
    } else {
      batches.incrementAndGet();
    }
    direct.seen(outcomes);
    compactIfDue();
    return outcomes;
  }

  private void compactIfDue() {
    if (batches.get() >= BATCHES_PER_COMPACTION) {
      batches.set(0);
      compact();
    }
  }

  /** Counts a batch that another class has written, which leaves rows behind, too. */
  public void writtenElsewhere() {
    batches.incrementAndGet();
    compactIfDue();
  }

  private List<Outcome> commitBatch(List<Change> changes, @Nullable NotificationChannel channel) {
    try {
      return transactions.write(batch(changes, context.ownEpoch(), channel));
    } catch (StoreException e) {
      if (channel == null || !mayBeForItsNotification(channel, e)) {
        throw e;
      }
      List<Outcome> outcomes = transactions.write(batch(changes, context.ownEpoch(), null));
      channel.refused();
      return outcomes;
    }
  }

  private static boolean mayBeForItsNotification(
      NotificationChannel channel, StoreException failure) {
    return failure.kind() != StoreException.Kind.UNKNOWN // it may have been committed
        && failure.getCause() instanceof SQLException cause
        && channel.isRefusal(cause);
  }

  /** {@return the claims for queues and handlers} */
  public QueueLeases leases() {
    return leases;
  }

  /** Compacts the counter rows of transactions. */
  public void compact() {
    try {
      boolean more;
      do {
        more =
            transactions.write(
                connection -> {
                  context.server().transactions().begin(connection);
                  return context.server().queries().compact(connection);
                });
      } while (more);
    } catch (StoreException e) {
      Log.LOG.log(System.Logger.Level.DEBUG, "the counters are compacted later", e);
    }
  }
}
