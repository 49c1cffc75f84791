// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
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

  /** The largest number of waiting lookups of a namespace: one for each slot of a delivery. */
  static final int MAX_WAITING = DeliverySlots.MAX;

  /**
   * Unbounded: a thread is still busy for a moment when {@link #MAX} counts its lookup as ended.
   */
  private final ThreadPoolExecutor threads =
      new ThreadPoolExecutor(
          0, Integer.MAX_VALUE, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), Lookups::daemon);

  private final Map<String, Integer> running = new HashMap<>();
  private int allRunning;

  /** The waiting lookups by namespace, ordered by the start of each namespace's latest lookup. */
  private final Map<String, Queue<Lookup>> waiting = new LinkedHashMap<>();

  /**
   * A lookup of a namespace.
   *
   * @param refusal runs instead of the query if no thread can run it
   */
  private record Lookup(String namespace, Runnable query, Runnable refusal) {}

  private static Thread daemon(Runnable task) {
    Thread thread = new Thread(task, "timewheel-webhook-lookup");
    thread.setDaemon(true);
    return thread;
  }

  /**
   * Runs a lookup, at once or when a thread is free.
   *
   * @param refusal runs instead of the query if too many lookups of the namespace wait, if no
   *     thread could be started, or after the close
   */
  void execute(String namespace, Runnable query, Runnable refusal) {
    Lookup lookup = new Lookup(namespace, query, refusal);
    boolean begun;
    synchronized (this) {
      begun = begin(namespace);
      if (!begun && isQueued(lookup)) {
        return;
      }
    }
    if (begun) {
      start(new ArrayDeque<>(List.of(lookup)));
    } else {
      refusal.run();
    }
  }

  private boolean isQueued(Lookup lookup) {
    Queue<Lookup> queue = waiting.computeIfAbsent(lookup.namespace, absent -> new ArrayDeque<>());
    return queue.size() < MAX_WAITING && queue.add(lookup);
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

  /** Starts lookups that have begun. A refused one makes room for others, which start then. */
  private void start(Queue<Lookup> begun) {
    Lookup lookup;
    while ((lookup = begun.poll()) != null) {
      Lookup each = lookup;
      try {
        threads.execute(() -> run(each));
      } catch (RuntimeException | Error e) { // it was closed, or no thread could be started
        each.refusal.run();
        begun.addAll(ended(each));
      }
    }
  }

  private void run(Lookup lookup) {
    try {
      lookup.query.run();
    } finally {
      start(ended(lookup));
    }
  }

  /** {@return the waiting lookups that begin in its place} */
  private synchronized Queue<Lookup> ended(Lookup lookup) {
    running.computeIfPresent(lookup.namespace, (same, count) -> count == 1 ? null : count - 1);
    allRunning--;
    Queue<Lookup> next = new ArrayDeque<>();
    for (Map.Entry<String, Queue<Lookup>> each : List.copyOf(waiting.entrySet())) {
      if (begin(each.getKey())) {
        Queue<Lookup> queue = each.getValue();
        next.add(queue.remove());
        waiting.remove(each.getKey());
        if (!queue.isEmpty()) {
          waiting.put(each.getKey(), queue); // moves to the end, behind the other namespaces
        }
      }
    }
    return next;
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
