// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import io.timewheel.testing.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.function.IntFunction;

/** Runs actions at the same time, each on its own thread. */
public final class Concurrently {
  private Concurrently() {}

  /** An action that may throw. */
  @FunctionalInterface
  public interface Action {
    void run() throws Exception;
  }

  /** Runs all actions and returns when all have ended. Fails if one of them failed. */
  public static void run(Action... actions) {
    Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    CountDownLatch go = new CountDownLatch(1);
    List<Thread> threads = new ArrayList<>();
    for (Action action : actions) {
      threads.add(start(action, go, failures));
    }
    go.countDown();
    threads.forEach(Await::end);
    if (!failures.isEmpty()) {
      AssertionError error = new AssertionError("an action failed", failures.remove());
      failures.forEach(error::addSuppressed);
      throw error;
    }
  }

  /** Runs one action on each thread, made for the number of that thread. */
  public static void run(int threads, IntFunction<Action> actions) {
    Action[] all = new Action[threads];
    for (int i = 0; i < threads; i++) {
      all[i] = actions.apply(i);
    }
    run(all);
  }

  private static Thread start(Action action, CountDownLatch go, Queue<Throwable> failures) {
    Thread thread =
        new Thread(
            () -> {
              try {
                go.await();
                action.run();
              } catch (Throwable e) {
                failures.add(e);
              }
            });
    thread.setDaemon(true);
    thread.start();
    return thread;
  }
}
