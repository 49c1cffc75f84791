// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import static java.util.Objects.requireNonNull;

import java.time.Duration;

/**
 * The properties of a store that an engine adapts to.
 *
 * @param shards the number of shards; fixed for the life of the data
 * @param committers the number of batches that may be committed concurrently; all unanswered
 *     changes of one timer use the same committer
 * @param maxBatch the largest number of changes in one commit
 * @param window how far ahead of now the engine loads due timers
 * @param claimAhead how long before its time a timer is claimed; zero where a claim is cheap
 * @param sweep the interval at which the engine reads its window again, to find timers of other
 *     sessions; zero if no other session writes
 * @param lease how long a crashed owner still holds its shards; zero if no other session waits for
 *     them. No run counts as missed until twice this time has passed
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
   * @param shards the number of shards; fixed for the life of the data
   * @param committers the number of batches that may be committed concurrently; all unanswered
   *     changes of one timer use the same committer
   * @param maxBatch the largest number of changes in one commit
   * @param window how far ahead of now the engine loads due timers
   * @param claimAhead how long before its time a timer is claimed; zero where a claim is cheap
   * @param sweep the interval at which the engine reads its window again, to find timers of other
   *     sessions; zero if no other session writes
   * @param lease how long a crashed owner still holds its shards; zero if no other session waits
   *     for them. No run counts as missed until twice this time has passed
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
   * Creates the traits of a store without node leases.
   *
   * @param shards the number of shards; fixed for the life of the data
   * @param committers the number of batches that may be committed concurrently; all unanswered
   *     changes of one timer use the same committer
   * @param maxBatch the largest number of changes in one commit
   * @param window how far ahead of now the engine loads due timers
   * @param claimAhead how long before its time a timer is claimed; zero where a claim is cheap
   * @param sweep the interval at which the engine reads its window again, to find timers of other
   *     sessions; zero if no other session writes
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

  /** {@return the traits of a store that only one process uses: one shard, no claims ahead} */
  public static StoreTraits embedded() {
    return new StoreTraits(1, 1, 4_000, Duration.ofMinutes(1), Duration.ZERO, Duration.ZERO);
  }

  /**
   * {@return how long a change of an owner that is not urgent waits, so that one commit contains
   * more changes: half of {@link #claimAhead}}
   */
  public Duration nonUrgentDelay() {
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
