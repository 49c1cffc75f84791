// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.Handler;
import java.time.Instant;
import java.util.function.Function;

/**
 * A handler that records its own success in the same transaction as its effects, so that they
 * happen exactly once. Stores with transactions offer it. The engine calls {@link #handle(Firing,
 * Change.Finish, Function)} in place of {@link Handler#handle}, and records failures itself.
 */
public interface FinishingHandler extends Handler {
  /**
   * Handles a firing, and commits its effects and the given change in one transaction.
   *
   * @param firing the firing
   * @param success the change that records the success
   * @param rescheduled creates the change that reschedules this run, as {@link Firing#reschedule}
   *     does, to commit instead of the success; throws an IllegalArgumentException if the time is
   *     out of range
   * @return the outcome of the change. Any answer except APPLIED means that nothing was committed;
   *     the engine then records a failed attempt, if the attempt is still open
   * @throws Exception if the attempt failed and nothing was committed
   */
  Outcome handle(Firing firing, Change.Finish success, Function<Instant, Change.Finish> rescheduled)
      throws Exception;

  @Override
  default void handle(Firing firing) {
    throw new UnsupportedOperationException("this handler records its own success");
  }
}
