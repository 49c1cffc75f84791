// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.model;

import java.util.concurrent.CompletionStage;

/**
 * A handler that holds no thread while it waits: for what calls other machines. The engine calls
 * {@link #start} in place of {@link Handler#handle}; the attempt counts among those that run until
 * what was returned is complete.
 */
public interface AsyncHandler extends Handler {
  /**
   * Starts to handle a firing, as {@link Handler#handle} does, and returns soon.
   *
   * <p>When the attempt is out of time, or a close has lost its patience, the attempt ends, whether
   * the stage does or not: it is {@linkplain java.util.concurrent.CompletableFuture#cancel
   * cancelled}, and whoever works for it should heed that.
   *
   * @param firing what fires; what is decided by it counts until the stage completes
   * @return completes when the attempt has ended; with an error, if it failed. Whoever completes it
   *     lends its thread to the engine for a moment, and never waits there
   * @throws Exception if the attempt failed at once
   */
  CompletionStage<?> start(Firing firing) throws Exception;

  @Override
  default void handle(Firing firing) {
    throw new UnsupportedOperationException("this handler is started");
  }
}
