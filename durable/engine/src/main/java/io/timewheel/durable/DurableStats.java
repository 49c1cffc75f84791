// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

/**
 * The counters of a {@link DurableTimer} since its start, and its present state. They need no call
 * to the store. {@link DurableTimer#counts} returns the numbers of retrying, failed and blocked
 * timers.
 *
 * @param fired attempts that began
 * @param succeeded attempts that succeeded
 * @param failed attempts that failed
 * @param exhausted runs whose attempts were exhausted, or whose handler gave up
 * @param blocked timers that were blocked because their handler was not known
 * @param lost attempts that were lost in a crash of their process, and claim leases that expired
 * @param skipped missed runs that were dropped; at most 10,000 are counted for a timer at a time
 * @param staleOwner changes that were refused because the shard had another owner
 * @param unknownOutcomes changes whose outcome the store could not determine
 * @param failedCommits commits that failed, without rejections
 * @param rejected claims and ends of attempts that the store rejected; each is retried within about
 *     a minute
 * @param clockJumps accepted backward steps of the clock, and forward jumps
 * @param shards the number of shards that this scheduler owns
 * @param window the number of entries on the wheel, or due but not begun
 * @param backlog the number of those that were overdue when their shard was acquired or the clock
 *     jumped, and that wait because of the overdue rate
 * @param waiting the number of due timers that wait for a concurrency slot
 * @param running the number of running attempts
 * @param queued the number of changes of callers that wait for the store
 * @param ownQueued the number of claims and ends of attempts that wait for the store
 * @param storeAvailable true if the store can be read and written. It becomes false with a failure
 *     (with the fifth in a row if they are transient). It becomes true once the store answers, or
 *     once no call has failed for 10 s
 * @param lag the lag of handler attempts: the time from their due time to their start
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
   * @param succeeded attempts that succeeded
   * @param failed attempts that failed
   * @param exhausted runs whose attempts were exhausted, or whose handler gave up
   * @param blocked timers that were blocked because their handler was not known
   * @param lost attempts that were lost in a crash of their process, and claim leases that expired
   * @param skipped missed runs that were dropped; at most 10,000 are counted for a timer at a time
   * @param staleOwner changes that were refused because the shard had another owner
   * @param unknownOutcomes changes whose outcome the store could not determine
   * @param failedCommits commits that failed, without rejections
   * @param rejected claims and ends of attempts that the store rejected; each is retried within
   *     about a minute
   * @param clockJumps accepted backward steps of the clock, and forward jumps
   * @param shards the number of shards that this scheduler owns
   * @param window the number of entries on the wheel, or due but not begun
   * @param backlog the number of those that were overdue when their shard was acquired or the clock
   *     jumped, and that wait because of the overdue rate
   * @param waiting the number of due timers that wait for a concurrency slot
   * @param running the number of running attempts
   * @param queued the number of changes of callers that wait for the store
   * @param ownQueued the number of claims and ends of attempts that wait for the store
   * @param storeAvailable true if the store can be read and written. It becomes false with a
   *     failure (with the fifth in a row if they are transient). It becomes true once the store
   *     answers, or once no call has failed for 10 s
   * @param lag the lag of handler attempts: the time from their due time to their start
   */
  public DurableStats {
    requireNonNull(lag, "lag");
  }

  /** {@return the longest time from the due time of an attempt to its start, in milliseconds} */
  public long maxLagMillis() {
    return lag.max().toMillis();
  }
}
