// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import io.timewheel.durable.jdbc.internal.transaction.Counters;

/**
 * Contains counters of a node since its store was opened. Counters never decrease.
 *
 * @param shardsReceived number of shards taken that had no live owner: new ones, ones that another
 *     node gave away, and the node's own after it had stopped
 * @param shardsTakenOver number of shards taken from a node whose node lease had expired, possibly
 *     from this node under its previous id
 * @param shardsGiven number of shards given away, so that each node has its share
 * @param leasesLost number of times that the node stopped firing because it could not renew its
 *     node lease in time
 * @param fenceRefusals number of commits that the fence refused, because a shard had a new owner.
 *     Each was repeated without the changes to that shard
 * @param sweeps counters of sweeps, which read the due timers of each shard from its lower bound on
 * @param fullSweeps counters of full sweeps, which read a shard's due timers from the beginning of
 *     the index, twice a minute. They are the first reads that accumulated dead rows slow down
 * @param notificationsSent number of notifications that the node's transactions contained,
 *     committed or not
 * @param notificationsReceived number of notifications received, including the node's own
 * @param connectionWaits number of times that the node asked the pool for a connection
 * @param connectionWaitNanos total time of waiting for connections, in nanoseconds, including
 *     failed waits
 * @param lostAnswersCommitted number of commits whose answer was lost and that the database had
 *     committed
 * @param lostAnswersAborted number of commits whose answer was lost and that had changed nothing
 * @param lostAnswersUnknown number of commits whose answer was lost and whose outcome could not be
 *     determined
 */
public record JdbcFigures(
    long shardsReceived,
    long shardsTakenOver,
    long shardsGiven,
    long leasesLost,
    long fenceRefusals,
    Sweeps sweeps,
    Sweeps fullSweeps,
    long notificationsSent,
    long notificationsReceived,
    long connectionWaits,
    long connectionWaitNanos,
    long lostAnswersCommitted,
    long lostAnswersAborted,
    long lostAnswersUnknown) {
  /**
   * Contains counters of reads of due timers.
   *
   * @param count number of statements, including failed ones
   * @param timers number of timers found
   * @param nanos total duration in nanoseconds, without the wait for a connection
   */
  public record Sweeps(long count, long timers, long nanos) {
    private static Sweeps of(Counters.Sweeps counted) {
      return new Sweeps(counted.count(), counted.timers(), counted.nanos());
    }
  }

  static JdbcFigures of(Counters counters) {
    return new JdbcFigures(
        counters.shardsReceived.sum(),
        counters.shardsTakenOver.sum(),
        counters.shardsGiven.sum(),
        counters.leasesLost.sum(),
        counters.fenceRefusals.sum(),
        Sweeps.of(counters.sweeps),
        Sweeps.of(counters.fullSweeps),
        counters.notificationsSent.sum(),
        counters.notificationsReceived.sum(),
        counters.connectionWaits(),
        counters.connectionWaitNanos(),
        counters.lostAnswersCommitted.sum(),
        counters.lostAnswersAborted.sum(),
        counters.lostAnswersUnknown.sum());
  }
}
