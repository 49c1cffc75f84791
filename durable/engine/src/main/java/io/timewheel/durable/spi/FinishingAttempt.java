// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import io.timewheel.durable.model.Firing;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import java.time.Instant;

/**
 * An attempt of a {@link FinishingHandler}. Exactly one call of {@link #recorded} or {@link
 * #failed} ends it; later calls have no effect. Not thread-safe.
 */
public interface FinishingAttempt {
  /** {@return the firing} */
  Firing firing();

  /** {@return the change that records the success} */
  Change.Finish success();

  /**
   * Creates the change that reschedules this run, as {@link Firing#reschedule} does, to commit
   * instead of the success.
   *
   * @param at the new time
   * @return the change
   * @throws IllegalArgumentException if the time is out of range
   */
  Change.Finish rescheduled(Instant at);

  /**
   * Ends the attempt with the outcome of its change.
   *
   * @param outcome the outcome. Any answer except APPLIED means that nothing was committed; the
   *     engine then records a failed attempt, if the attempt is still open
   */
  void recorded(Outcome outcome);

  /**
   * Ends the attempt, which has failed, and of which nothing was committed.
   *
   * @param failure the failure
   */
  void failed(Throwable failure);
}
