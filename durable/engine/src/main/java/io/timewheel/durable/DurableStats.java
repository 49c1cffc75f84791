// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

/**
 * What a {@link DurableTimer} has done since it was started, and how it stands. It asks the store
 * nothing; how many timers are retrying, failed or blocked is in {@link DurableTimer#counts}.
 *
 * @param fired attempts that began
 * @param succeeded attempts that ended well
 * @param failed attempts that failed
 * @param exhausted runs whose attempts were exhausted, or that a handler gave up
 * @param blocked timers whose handler was not known
 * @param lost attempts that died with their process, and leases that ran out
 * @param skipped missed runs that were dropped; of one timer at a time, 10,000 are counted at most
 * @param staleOwner times that a shard was found to have another owner
 * @param unknownOutcomes changes whose outcome the store could not tell
 * @param failedCommits tries of the store to commit that failed, rejections not counted
 * @param rejected changes of this timer's own, claims and ends of attempts, that the store
 *     rejected; each is asked for again within a minute or so
 * @param clockJumps times that the clock went back and was believed, or jumped ahead
 * @param shards how many shards this timer fires
 * @param window how many entries are on the wheel, or due and not begun
 * @param backlog how many of those were overdue when their shard was acquired or the clock jumped,
 *     and are held to their rate
 * @param waiting how many are due and wait for a place of their handler
 * @param running how many attempts run
 * @param queued how many changes of callers wait for the store
 * @param ownQueued how many claims and ends of attempts wait for the store
 * @param storeAvailable whether the store can be read and written: false from a failure until it
 *     answers, or until nothing was asked of it for 10 s
 * @param lag how long attempts of handlers took to begin once they were due
 */
public record DurableStats(
    long fired,
    long succeeded,
    long failed,
    long exhausted,
    long blocked,
    long lost,
    long skipped,
    long staleOwner,
    long unknownOutcomes,
    long failedCommits,
    long rejected,
    long clockJumps,
    int shards,
    int window,
    int backlog,
    int waiting,
    int running,
    int queued,
    int ownQueued,
    boolean storeAvailable,
    LagHistogram lag) {

  /**
   * Checks that there is a histogram.
   *
   * @param fired attempts that began
   * @param succeeded attempts that ended well
   * @param failed attempts that failed
   * @param exhausted runs whose attempts were exhausted, or that a handler gave up
   * @param blocked timers whose handler was not known
   * @param lost attempts that died with their process, and leases that ran out
   * @param skipped missed runs that were dropped; of one timer at a time, 10,000 are counted at
   *     most
   * @param staleOwner times that a shard was found to have another owner
   * @param unknownOutcomes changes whose outcome the store could not tell
   * @param failedCommits tries of the store to commit that failed, rejections not counted
   * @param rejected changes of this timer's own, claims and ends of attempts, that the store
   *     rejected; each is asked for again within a minute or so
   * @param clockJumps times that the clock went back and was believed, or jumped ahead
   * @param shards how many shards this timer fires
   * @param window how many entries are on the wheel, or due and not begun
   * @param backlog how many of those were overdue when their shard was acquired or the clock
   *     jumped, and are held to their rate
   * @param waiting how many are due and wait for a place of their handler
   * @param running how many attempts run
   * @param queued how many changes of callers wait for the store
   * @param ownQueued how many claims and ends of attempts wait for the store
   * @param storeAvailable whether the store can be read and written: false from a failure until it
   *     answers, or until nothing was asked of it for 10 s
   * @param lag how long attempts of handlers took to begin once they were due
   */
  public DurableStats {
    requireNonNull(lag, "lag");
  }

  /** {@return the longest time from due to the begin of an attempt} */
  public long maxLagMillis() {
    return lag.max().toMillis();
  }
}
