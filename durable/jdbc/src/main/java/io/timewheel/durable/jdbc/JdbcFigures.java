// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import io.timewheel.durable.jdbc.internal.transaction.Counters;

/**
 * What a node has done since its store was opened, and how its database answered. It only grows.
 *
 * @param shardsReceived shards that it took because nobody fired them: new ones, what another node
 *     gave away, and its own after it had stopped
 * @param shardsTakenOver shards that it took from a node whose lease had run out, be it from itself
 *     before it came back as another
 * @param shardsGiven shards that it gave away, so that each node has its share
 * @param leasesLost how often it stopped firing, because its lease was not renewed in time
 * @param fenceRefusals commits that the fence refused, since a shard had another owner by then;
 *     each was done again without what was not this node's any more
 * @param sweeps reads of what is due, in each shard from its lower bound on
 * @param fullSweeps reads of what is due in a shard, from the beginning of the index: twice a
 *     minute; they are the first to be slow when dead rows pile up
 * @param hintsSent hints that went with its transactions, committed or not
 * @param hintsReceived hints that came, its own among them
 * @param connectionWaits how often it asked the pool for a connection
 * @param connectionWaitNanos how long it waited for connections, those included that it did not get
 * @param lostAnswersCommitted commits whose answer was lost, and that the database knew
 * @param lostAnswersAborted commits whose answer was lost, and that had done nothing
 * @param lostAnswersUnknown commits whose answer was lost, and of which nobody could say how they
 *     ended
 */
public record JdbcFigures(
    long shardsReceived,
    long shardsTakenOver,
    long shardsGiven,
    long leasesLost,
    long fenceRefusals,
    Sweeps sweeps,
    Sweeps fullSweeps,
    long hintsSent,
    long hintsReceived,
    long connectionWaits,
    long connectionWaitNanos,
    long lostAnswersCommitted,
    long lostAnswersAborted,
    long lostAnswersUnknown) {
  /**
   * Reads of what is due.
   *
   * @param count how many statements, those included that failed
   * @param timers how many timers they found
   * @param nanos how long they took, without the wait for a connection
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
        counters.hintsSent.sum(),
        counters.hintsReceived.sum(),
        counters.connectionWaits(),
        counters.connectionWaitNanos(),
        counters.lostAnswersCommitted.sum(),
        counters.lostAnswersAborted.sum(),
        counters.lostAnswersUnknown.sum());
  }
}
