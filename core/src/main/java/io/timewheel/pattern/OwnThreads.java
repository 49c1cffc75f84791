// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Makes the daemon threads of a pattern without an executor. They end when they are idle. */
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

  /** Returns a pool for callbacks that may be slow: one thread per processor, at least two. */
  static Executor createPool(String name) {
    return create(name, Math.max(2, Runtime.getRuntime().availableProcessors()));
  }
}
