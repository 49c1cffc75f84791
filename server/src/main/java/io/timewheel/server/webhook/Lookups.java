// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The threads that query name servers. A lookup blocks its thread, for many seconds if no name
 * server answers. A namespace uses at most as many threads as are free, so lookups of other
 * namespaces start at once. Its further lookups wait.
 */
final class Lookups implements AutoCloseable {
  /** The largest number of running lookups. */
  static final int MAX = 256;

  /**
   * The largest number of waiting lookups of a namespace. Each belongs to a delivery with a slot.
   */
  static final int MAX_WAITING = DeliverySlots.MAX;

  private final ThreadPoolExecutor threads =
      new ThreadPoolExecutor(
          0, MAX, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), Lookups::daemon);

  private final Map<String, Integer> running = new HashMap<>();
  private int allRunning;

  /** The waiting lookups by namespace, ordered by the start of each namespace's latest lookup. */
  private final Map<String, Queue<Runnable>> waiting = new LinkedHashMap<>();

  private static Thread daemon(Runnable task) {
    Thread thread = new Thread(task, "timewheel-webhook-lookup");
    thread.setDaemon(true);
    return thread;
  }

  /**
   * Runs a lookup, at once or when a thread is free.
   *
   * @throws RejectedExecutionException if too many lookups of the namespace wait
   */
  void execute(String namespace, Runnable lookup) {
    synchronized (this) {
      if (!begin(namespace)) {
        Queue<Runnable> queue = waiting.computeIfAbsent(namespace, absent -> new ArrayDeque<>());
        if (queue.size() >= MAX_WAITING) {
          throw new RejectedExecutionException("too many lookups wait");
        }
        queue.add(lookup);
        return;
      }
    }
    start(namespace, lookup);
  }

  private boolean begin(String namespace) {
    int mine = running.getOrDefault(namespace, 0);
    if (mine >= MAX - allRunning) {
      return false;
    }
    running.put(namespace, mine + 1);
    allRunning++;
    return true;
  }

  private void start(String namespace, Runnable lookup) {
    try {
      threads.execute(
          () -> {
            try {
              lookup.run();
            } finally {
              ended(namespace);
            }
          });
    } catch (RuntimeException | Error e) { // it was closed, or no thread could be started
      ended(namespace);
      throw e;
    }
  }

  private void ended(String namespace) {
    Map<String, Runnable> next = new LinkedHashMap<>();
    synchronized (this) {
      running.computeIfPresent(namespace, (same, count) -> count == 1 ? null : count - 1);
      allRunning--;
      for (Map.Entry<String, Queue<Runnable>> each : List.copyOf(waiting.entrySet())) {
        if (begin(each.getKey())) {
          Queue<Runnable> queue = each.getValue();
          next.put(each.getKey(), queue.remove());
          waiting.remove(each.getKey());
          if (!queue.isEmpty()) {
            waiting.put(each.getKey(), queue); // moves to the end, behind the other namespaces
          }
        }
      }
    }
    next.forEach(
        (each, lookup) -> {
          try {
            start(each, lookup);
          } catch (RejectedExecutionException e) {
            // This object was closed, so no caller waits for these addresses.
          }
        });
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
