// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The daemon threads of a pattern that was given no executor; they end when they are idle. */
final class OwnThreads {
  private OwnThreads() {}

  static Executor create(String name, int threads) {
    ThreadPoolExecutor own =
        new ThreadPoolExecutor(
            threads,
            threads,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> {
              Thread thread = new Thread(task, name);
              thread.setDaemon(true);
              return thread;
            });
    own.allowCoreThreadTimeOut(true);
    return own;
  }

  /** As many threads as there are processors, two at least: for callbacks that may be slow. */
  static Executor createPool(String name) {
    return create(name, Math.max(2, Runtime.getRuntime().availableProcessors()));
  }
}
