// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.write;

import io.timewheel.durable.jdbc.internal.notifications.NotificationChannel;
import io.timewheel.durable.jdbc.internal.notifications.Notifications;
import io.timewheel.durable.jdbc.internal.server.ServerParts;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.jdbc.internal.transaction.Counters;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a store that its writes share.
 *
 * @param ownEpoch the epoch under which this session owns a shard; null if it does not own it
 * @param channel sends notifications to other nodes; null without notifications
 */
record WriteContext(
    ServerParts server,
    Counters counters,
    Novelty novelty,
    HeldTimers heldTimers,
    int shards,
    Function<Integer, @Nullable Long> ownEpoch,
    @Nullable NotificationChannel channel) {
  WriteContext with(
      Function<Integer, @Nullable Long> epochs, @Nullable NotificationChannel newChannel) {
    return new WriteContext(server, counters, novelty, heldTimers, shards, epochs, newChannel);
  }

  /** Notifies other nodes of changed timers. */
  void notifyOthers(Statements to, Stream<TimerRecord> changed) {
    if (channel == null) {
      return;
    }
    Notifications notifications = new Notifications();
    changed.forEach(
        record -> notifications.add(record, shards, shard -> ownEpoch.apply(shard) != null));
    if (!notifications.isEmpty()) {
      counters.notificationsSent.increment();
      channel.send(to, notifications.text());
    }
  }
}
