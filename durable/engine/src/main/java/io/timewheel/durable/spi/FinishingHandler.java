// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.Handler;
import java.util.List;

/**
 * A handler that records its own success in the same transaction as its effects, so that they
 * happen exactly once. Stores with transactions offer it. The engine calls {@link #handle(List)} in
 * place of {@link Handler#handle(Firing)}, and records failures itself.
 */
public interface FinishingHandler extends Handler {
  /**
   * The largest number of concurrent calls for one name, if {@link #maxBatch} is more than one.
   * Attempts that begin meanwhile are part of a later call.
   */
  int MAX_CALLS = 2;

  /**
   * Handles attempts on one thread. Commits their effects and the changes of the attempts, and ends
   * each attempt. An attempt without an end has failed with the exception of this call.
   *
   * @param attempts the attempts, at most {@link #maxBatch}
   */
  void handle(List<? extends FinishingAttempt> attempts);

  /** {@return the largest number of attempts in one call} */
  default int maxBatch() {
    return 1;
  }

  @Override
  default void handle(Firing firing) {
    throw new UnsupportedOperationException("this handler records its own success");
  }
}
