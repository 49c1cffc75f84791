// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The figures of a node. The figures of the store ({@code paused}, {@code states} and {@code
 * overdue}) are absent while it does not answer. The figures of the whole node, {@code window} to
 * {@code totals}, are absent in an answer about some namespaces only.
 *
 * @param now the time of the node
 * @param startedAt the start of the node
 * @param version the version of the server
 * @param node the ID of the node
 * @param store the name of the store
 * @param storeAvailable whether the store answers
 * @param paused the paused namespaces, 100 at most; {@code *} for all
 * @param states the number of timers in each state
 * @param overdue the number of timers that still wait more than a second after their due time
 * @param window the number of timers in memory
 * @param backlog the number of overdue timers that start at a limited rate
 * @param waiting the number of due timers that wait for a concurrency slot
 * @param running the number of running attempts
 * @param queued the number of changes of callers that wait for the store
 * @param ownQueued the number of claims and completions that wait for the store
 * @param totals counts since the start of the node
 * @param rates averages of the last ten seconds; absent for a namespace that is not measured
 * @param lag the lag of the last hour; absent for a namespace that is not measured
 * @param minutes the last hour; absent in events, and for a namespace that is not measured
 */
public record StatsAnswer(
    Instant now,
    Instant startedAt,
    @Nullable String version,
    String node,
    @Nullable String store,
    boolean storeAvailable,
    @Nullable List<String> paused,
    @Nullable Map<String, Long> states,
    @Nullable Long overdue,
    @Nullable Integer window,
    @Nullable Integer backlog,
    @Nullable Integer waiting,
    @Nullable Integer running,
    @Nullable Integer queued,
    @Nullable Integer ownQueued,
    @Nullable Totals totals,
    @Nullable Rates rates,
    @Nullable Lag lag,
    @Nullable List<Minute> minutes) {

  /**
   * Counts since the start of the node.
   *
   * @param scheduled scheduled timers
   * @param fired attempts
   * @param succeeded attempts that have succeeded
   * @param failed attempts that have failed
   * @param exhausted runs whose last attempt has failed, or whose handler gave up
   * @param blocked timers that were blocked because no live node had their handler
   * @param lost attempts that were lost with their process, and expired claim leases
   * @param skipped missed runs that were dropped
   * @param staleOwner changes that were refused because the shard had another owner
   * @param unknownOutcomes changes with an unknown outcome
   * @param clockJumps jumps of the clock
   */
  public record Totals(
      long scheduled,
      long fired,
      long succeeded,
      long failed,
      long exhausted,
      long blocked,
      long lost,
      long skipped,
      long staleOwner,
      long unknownOutcomes,
      long clockJumps) {}

  /**
   * Averages of the last ten seconds.
   *
   * @param scheduled scheduled timers per second
   * @param fired attempts per second
   * @param failed failed attempts per second
   */
  public record Rates(double scheduled, double fired, double failed) {}

  /**
   * The lag of attempts.
   *
   * @param p50 the median
   * @param p99 the 99th percentile
   * @param max the maximum
   * @param count the number of attempts
   */
  public record Lag(Duration p50, Duration p99, Duration max, long count) {}

  /**
   * A minute. The lag is absent if there was no attempt.
   *
   * @param at its beginning
   * @param scheduled the number of scheduled timers
   * @param fired the number of attempts
   * @param failed the number of failed attempts
   * @param lagP50 the median lag
   * @param lagP99 the 99th percentile of the lag
   * @param lagMax the maximum lag
   */
  public record Minute(
      Instant at,
      long scheduled,
      long fired,
      long failed,
      @Nullable Duration lagP50,
      @Nullable Duration lagP99,
      @Nullable Duration lagMax) {}
}
