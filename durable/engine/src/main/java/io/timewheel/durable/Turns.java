// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Runs work on an executor that may run it on the calling thread, as {@code Runnable::run} always
 * does and a full pool with {@code CallerRunsPolicy} at times. Work that comes while such a thread
 * is at work waits until that is over, and does not run inside it: one commit asks for the next,
 * and a long row of them must not fill the stack.
 */
final class Turns {
  private static final System.Logger LOG = System.getLogger(DurableTimer.class.getName());

  /** Of this engine alone: its work must not wait behind that of another one. */
  @SuppressWarnings("ThreadLocalUsage") // the value is removed when the work is over
  private final ThreadLocal<@Nullable ArrayDeque<Runnable>> waiting = new ThreadLocal<>();

  void execute(Executor executor, Runnable work) {
    executor.execute(() -> run(work));
  }

  private void run(Runnable work) {
    ArrayDeque<Runnable> behind = waiting.get();
    if (behind != null) {
      behind.add(work);
      return;
    }
    ArrayDeque<Runnable> mine = new ArrayDeque<>();
    waiting.set(mine);
    try {
      for (Runnable next = work; next != null; next = mine.poll()) {
        try {
          next.run();
        } catch (RuntimeException | Error e) {
          LOG.log(System.Logger.Level.ERROR, "store work threw", e); // what waits must still run
        }
      }
    } finally {
      waiting.remove();
    }
  }
}
