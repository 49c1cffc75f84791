// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi.record;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.TimerKey;

/**
 * A position in the due index of a shard. The key makes it unique, so a scan that continues from it
 * neither repeats nor omits a timer.
 *
 * @param fireAt the fire time
 * @param key the identity of the timer
 */
public record DuePosition(long fireAt, TimerKey key) implements Comparable<DuePosition> {
  /**
   * Checks that there is a key.
   *
   * @param fireAt the fire time
   * @param key the identity of the timer
   */
  public DuePosition {
    requireNonNull(key, "key");
  }

  @Override
  public int compareTo(DuePosition other) {
    int byTime = Long.compare(fireAt, other.fireAt);
    return byTime != 0 ? byTime : key.compareTo(other.key);
  }
}
