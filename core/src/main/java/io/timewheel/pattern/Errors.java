// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.util.Objects.requireNonNull;

import java.lang.System.Logger.Level;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Runs the user code of one pattern, and passes everything that it throws to the pattern's handler.
 */
final class Errors {
  private static final System.Logger LOGGER = System.getLogger("io.timewheel");

  private final String pattern;
  private final PatternErrorHandler handler;

  Errors(Class<?> pattern, PatternErrorHandler handler) {
    this.pattern = pattern.getSimpleName();
    this.handler = requireNonNull(handler, "onError");
  }

  /**
   * Logs an error: the default handler. Leaves the key out of the log, because it may be a secret.
   */
  static void log(String pattern, @Nullable Object key, Throwable error) {
    try {
      LOGGER.log(Level.WARNING, pattern + ": user code threw", error);
    } catch (Throwable e) {
      // Loggers are user code too. There is no other handler to notify.
    }
  }

  /** Returns the failure of a stage, without the wrapper that dependent stages add. */
  static Throwable causeOf(Throwable error) {
    Throwable cause = error instanceof CompletionException ? error.getCause() : null;
    return cause == null ? error : cause;
  }

  void handle(@Nullable Object key, Throwable error) {
    try {
      handler.handle(pattern, key, error);
    } catch (Throwable e) {
      log(pattern, key, e);
    }
  }

  void run(@Nullable Object key, Runnable userCode) {
    try {
      userCode.run();
    } catch (Throwable e) {
      handle(key, e);
    }
  }

  /** Runs user code once: on the executor, or here if the executor rejects it. */
  void runOn(Executor executor, @Nullable Object key, Runnable userCode) {
    AtomicBoolean begun = new AtomicBoolean();
    Runnable once =
        () -> {
          if (begun.compareAndSet(false, true)) {
            run(key, userCode);
          }
        };
    try {
      executor.execute(once);
    } catch (Throwable e) {
      handle(key, e);
      once.run();
    }
  }
}
