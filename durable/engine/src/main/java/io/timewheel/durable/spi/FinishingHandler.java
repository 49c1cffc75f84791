// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import io.timewheel.durable.Firing;
import io.timewheel.durable.Handler;

/**
 * A handler that records its own success, together with its effects: what a store with transactions
 * offers for effects that happen exactly once. The engine calls {@link #handle(Firing,
 * Change.Finish)} in place of {@link Handler#handle}, and records failures itself.
 */
public interface FinishingHandler extends Handler {
  /**
   * Handles a firing, and commits its effects and the given change as one.
   *
   * @param firing what fires
   * @param success the change that records the success
   * @return the outcome of that change. Any answer except APPLIED means that nothing was committed;
   *     the engine then records a failed attempt, if the store still holds it open
   * @throws Exception if it failed, and nothing was committed
   */
  Outcome handle(Firing firing, Change.Finish success) throws Exception;

  @Override
  default void handle(Firing firing) {
    throw new UnsupportedOperationException("this handler records its own success");
  }
}
