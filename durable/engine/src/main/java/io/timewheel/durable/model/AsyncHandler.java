// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.model;

import java.util.concurrent.CompletionStage;

/**
 * A handler that holds no thread while it waits, for example for a call to another machine. The
 * engine calls {@link #start} instead of {@link Handler#handle}. The attempt counts as running
 * until the returned stage completes.
 */
public interface AsyncHandler extends Handler {
  /**
   * Starts to handle a firing, as {@link Handler#handle} does, and returns soon.
   *
   * <p>If the attempt exceeds its timeout, or a close its shutdown timeout, the attempt ends, even
   * if the stage does not. The engine {@linkplain java.util.concurrent.CompletableFuture#cancel
   * cancels} the stage, and the work behind it should stop.
   *
   * @param firing the firing; its methods take effect until the stage completes
   * @return a stage that completes when the attempt has ended, with an error if it failed. The
   *     engine briefly uses the thread that completes it, and never blocks it
   * @throws Exception if the attempt failed immediately
   */
  CompletionStage<?> start(Firing firing) throws Exception;

  @Override
  default void handle(Firing firing) {
    throw new UnsupportedOperationException("this handler is started");
  }
}
