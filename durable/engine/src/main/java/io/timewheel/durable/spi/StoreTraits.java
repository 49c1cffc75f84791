// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import static java.util.Objects.requireNonNull;

import java.time.Duration;

/**
 * What an engine must know about a store to use it well.
 *
 * @param shards how many shards there are; fixed for the life of the data
 * @param committers how many batches may be committed side by side; the changes of one timer always
 *     go through the same one
 * @param maxBatch how many changes one commit takes
 * @param window how far ahead of now the engine loads due timers
 * @param claimAhead how long before its time a timer is claimed; zero where a claim is cheap
 * @param sweep how often the engine reads its window again, for what others have put there; zero if
 *     nobody else writes
 * @param lease how long an owner that has died still holds its shards; zero if nobody else waits
 *     for them. No run counts as missed until twice as much has passed.
 */
public record StoreTraits(
    int shards,
    int committers,
    int maxBatch,
    Duration window,
    Duration claimAhead,
    Duration sweep,
    Duration lease) {

  /**
   * Checks the ranges.
   *
   * @param shards how many shards there are; fixed for the life of the data
   * @param committers how many batches may be committed side by side; the changes of one timer
   *     always go through the same one
   * @param maxBatch how many changes one commit takes
   * @param window how far ahead of now the engine loads due timers
   * @param claimAhead how long before its time a timer is claimed; zero where a claim is cheap
   * @param sweep how often the engine reads its window again, for what others have put there; zero
   *     if nobody else writes
   * @param lease how long an owner that has died still holds its shards; zero if nobody else waits
   *     for them. No run counts as missed until twice as much has passed.
   */
  public StoreTraits {
    check("shards", shards, 65_536);
    check("committers", committers, 64);
    check("maxBatch", maxBatch, 100_000);
    requireNonNull(window, "window");
    requireNonNull(claimAhead, "claimAhead");
    requireNonNull(sweep, "sweep");
    requireNonNull(lease, "lease");
    notNegative("claimAhead", claimAhead);
    notNegative("sweep", sweep);
    notNegative("lease", lease);
    if (window.toMillis() < 100 || window.compareTo(claimAhead.multipliedBy(2)) < 0) {
      throw new IllegalArgumentException(
          "window: " + window + " (expected: at least 100 ms, and twice " + claimAhead + ")");
    }
  }

  /**
   * The traits of a store without leases.
   *
   * @param shards how many shards there are; fixed for the life of the data
   * @param committers how many batches may be committed side by side; the changes of one timer
   *     always go through the same one
   * @param maxBatch how many changes one commit takes
   * @param window how far ahead of now the engine loads due timers
   * @param claimAhead how long before its time a timer is claimed; zero where a claim is cheap
   * @param sweep how often the engine reads its window again, for what others have put there; zero
   *     if nobody else writes
   */
  public StoreTraits(
      int shards,
      int committers,
      int maxBatch,
      Duration window,
      Duration claimAhead,
      Duration sweep) {
    this(shards, committers, maxBatch, window, claimAhead, sweep, Duration.ZERO);
  }

  /** {@return the traits of a store that one process has to itself: one shard, nothing ahead} */
  public static StoreTraits embedded() {
    return new StoreTraits(1, 1, 4_000, Duration.ofMinutes(1), Duration.ZERO, Duration.ZERO);
  }

  /**
   * {@return how long a change of an owner that is in no hurry waits for others, to be committed
   * with them: half as long as what is due is claimed ahead}
   */
  public Duration patience() {
    return claimAhead.dividedBy(2);
  }

  private static void notNegative(String name, Duration value) {
    if (value.isNegative()) {
      throw new IllegalArgumentException(name + ": " + value + " (expected: zero or more)");
    }
  }

  private static void check(String name, int value, int max) {
    if (value < 1 || value > max) {
      throw new IllegalArgumentException(name + ": " + value + " (expected: 1 to " + max + ")");
    }
  }
}
