// SPDX-License-Identifier: Apache-2.0
package io.timewheel.soak;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/** Makes the threads of the soak, and records them until they have ended. */
final class Threads {
  private static final String PREFIX = "soak-";

  private final Violations violations;
  private final AtomicInteger numbers = new AtomicInteger();
  private final Set<Thread> made = ConcurrentHashMap.newKeySet();

  Threads(Violations violations) {
    this.violations = violations;
  }

  /** Returns a factory for threads of one kind. All are daemons, so a failed soak can end. */
  ThreadFactory factory(String kind) {
    return runnable -> {
      Thread thread = new Thread(runnable, PREFIX + kind + "-" + numbers.incrementAndGet());
      thread.setDaemon(true);
      thread.setUncaughtExceptionHandler(
          (dead, error) ->
              violations.add(dead.getName() + " died of " + error + ", " + error.getCause()));
      made.add(thread);
      return thread;
    };
  }

  Thread start(String kind, Runnable runnable) {
    Thread thread = factory(kind).newThread(runnable);
    thread.start();
    return thread;
  }

  /** Waits for a thread to end, if it was started. If it does not end, that is a violation. */
  void join(Thread thread, long seconds) throws InterruptedException {
    thread.join(seconds * 1000);
    violations.check(!thread.isAlive(), thread.getName() + " has not ended in " + seconds + " s");
    made.remove(thread);
  }

  /** Reports recorded threads, and other threads with a name of the soak, that have not ended. */
  void checkAllEnded(long seconds) throws InterruptedException {
    for (Thread thread : made) {
      join(thread, seconds);
    }
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      violations.check(!thread.getName().startsWith(PREFIX), thread.getName() + " is left");
    }
  }
}
