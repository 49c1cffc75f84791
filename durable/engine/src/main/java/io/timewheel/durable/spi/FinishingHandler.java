// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.Handler;
import java.time.Instant;
import java.util.function.Function;

/**
 * A handler that records its own success, together with its effects: a store with transactions
 * offers it for effects that happen exactly once. The engine calls {@link #handle(Firing,
 * Change.Finish, Function)} in place of {@link Handler#handle}, and records failures itself.
 */
public interface FinishingHandler extends Handler {
  /**
   * Handles a firing, and commits its effects and the given change as one.
   *
   * @param firing the firing
   * @param success the change that records the success
   * @param rescheduled makes the change that reschedules this run at a time, as {@link
   *     Firing#reschedule} does, to commit in place of the success; throws an
   *     IllegalArgumentException if that time never comes
   * @return the outcome of the change. Any answer except APPLIED means that nothing was committed;
   *     the engine then records a failed attempt, if the store still holds it open
   * @throws Exception if it failed, and nothing was committed
   */
  Outcome handle(Firing firing, Change.Finish success, Function<Instant, Change.Finish> rescheduled)
      throws Exception;

  @Override
  default void handle(Firing firing) {
    throw new UnsupportedOperationException("this handler records its own success");
  }
}
