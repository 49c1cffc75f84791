// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.util.Objects.requireNonNull;

import java.lang.System.Logger.Level;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** Where everything goes that foreign code throws; nothing gets past it. */
final class Errors {
  private static final System.Logger LOGGER = System.getLogger("io.timewheel");

  private final Consumer<? super Throwable> handler;

  Errors(Consumer<? super Throwable> handler) {
    this.handler = requireNonNull(handler, "onError");
  }

  /** The handler unless another is set. */
  static void log(Throwable error) {
    try {
      LOGGER.log(Level.WARNING, "a callback threw", error);
    } catch (Throwable e) {
      // A log is foreign code too. There is nobody left to tell.
    }
  }

  /** What a stage has failed with, without what stages that depend on others wrap it in. */
  static Throwable causeOf(Throwable error) {
    Throwable cause = error instanceof CompletionException ? error.getCause() : null;
    return cause == null ? error : cause;
  }

  void handle(Throwable error) {
    try {
      handler.accept(error);
    } catch (Throwable e) {
      log(e);
    }
  }

  void run(Runnable foreign) {
    try {
      foreign.run();
    } catch (Throwable e) {
      handle(e);
    }
  }

  /** Runs it on the executor, or here if that rejects it, but once in any case. */
  void runOn(Executor executor, Runnable foreign) {
    AtomicBoolean begun = new AtomicBoolean();
    Runnable once =
        () -> {
          if (begun.compareAndSet(false, true)) {
            run(foreign);
          }
        };
    try {
      executor.execute(once);
    } catch (Throwable e) {
      handle(e);
      once.run();
    }
  }
}
