// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi.record;

import io.timewheel.durable.model.TimerKey;
import org.jspecify.annotations.Nullable;

/** Contains the data on which changes depend, besides the record of their timer. */
public interface Facts {
  /**
   * Returns a version that this key has never had.
   *
   * @param above the present version, which it must exceed; 0 if there is no record
   * @return the version
   */
  long nextVersion(long above);

  /**
   * Counts the unfinished timers of a namespace.
   *
   * @param namespace the namespace
   * @return their number
   */
  long pending(String namespace);

  /**
   * Returns whether a namespace, or everything, is paused.
   *
   * @param namespace the namespace
   * @return true if it is paused
   */
  boolean paused(String namespace);

  /**
   * Looks up the answer to an earlier request.
   *
   * @param key the timer
   * @param id the ID of the request
   * @return the answer; null if there is none
   */
  @Nullable RequestAnswer answer(TimerKey key, String id);

  /**
   * Returns whether the owner that made a change no longer owns the shard of the timer.
   *
   * @param change a change with the epoch of an owner
   * @return true if the change must not apply
   */
  boolean isStale(Change change);
}
