// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.function.Consumer;

/**
 * A bounded queue from the timer thread to a listener that may be slow. A run on the executor
 * empties it, one run at a time, and passes batches to the listener in order.
 *
 * <p>If the queue is full, the calling thread passes its element to the overflow listener. In a
 * queue that blocks, the timer thread waits for room instead. If the executor rejects the run, the
 * same thread passes all queued elements to the overflow listener.
 *
 * <p>An executor may silently drop a run. So a run that has not begun is offered again with the
 * second, third, fifth and ninth element, and so on. The element of the first offer counts as the
 * first one. An executor that is shut down may have dropped the run, too, and begins no other.
 *
 * @param <E> the type of the elements
 */
final class HandOff<E> implements Runnable {
  private final Executor executor;
  private final int capacity;
  private final boolean blocks;
  private final int maxBatch;
  private final Consumer<? super List<E>> listener;
  private final Consumer<? super List<E>> overflow;
  private final Errors errors;

  // All guarded by this.
  private final ArrayDeque<E> queue = new ArrayDeque<>();
  private boolean running;

  /** The number of elements added since the first offer of the run that has not begun. */
  private int waiting;

  /**
   * Makes an empty queue. The listeners must not throw.
   *
   * @param blocks whether {@link #put} waits for room
   */
  HandOff(
      Executor executor,
      int capacity,
      boolean blocks,
      int maxBatch,
      Consumer<? super List<E>> listener,
      Consumer<? super List<E>> overflow,
      Errors errors) {
    this.executor = executor;
    this.capacity = capacity;
    this.blocks = blocks;
    this.maxBatch = maxBatch;
    this.listener = listener;
    this.overflow = overflow;
    this.errors = errors;
  }

  /** Adds an element. Called by the timer thread, which waits for room if the queue blocks. */
  void put(E element) {
    put(element, blocks);
  }

  /**
   * Adds an element without waiting. Called by other threads: the listener's own thread would wait
   * for itself.
   */
  void putAtOnce(E element) {
    put(element, false);
  }

  private void put(E element, boolean mayWait) {
    if (mayWait && isStuck()) {
      offer(false); // if the executor dropped the run, nothing else would make room
    }
    boolean fits;
    int before;
    synchronized (this) {
      fits = mayWait ? awaitRoom() : queue.size() < capacity;
      if (fits) {
        queue.add(element);
      }
      before = running ? -1 : waiting++;
    }
    if (!fits) {
      overflow.accept(List.of(element));
    }
    if (before >= 0 && TimedEntry.isToBeOffered(before)) {
      offer(before == 0);
    }
  }

  private synchronized boolean isStuck() {
    return queue.size() >= capacity && !running;
  }

  /**
   * Waits for room, and returns whether there is room. An interrupt ends the wait, and its status
   * stays set.
   */
  private synchronized boolean awaitRoom() {
    while (queue.size() >= capacity) {
      try {
        wait();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        break;
      }
    }
    return queue.size() < capacity;
  }

  /**
   * Offers a run to the executor. A rejection has an effect only for the first offer, or if the
   * executor is shut down: otherwise the run that was offered before may still begin.
   */
  private void offer(boolean first) {
    try {
      executor.execute(this);
    } catch (Throwable e) {
      if (first || (executor instanceof ExecutorService service && service.isShutdown())) {
        errors.handle(null, e);
        drain(overflow);
      }
    }
  }

  @Override
  public void run() {
    drain(listener);
  }

  /** Drains the queue. Does nothing if another run is draining it, or has emptied it. */
  private void drain(Consumer<? super List<E>> to) {
    synchronized (this) {
      if (running || queue.isEmpty()) {
        return;
      }
      running = true;
      waiting = 0;
    }
    boolean interrupted = false;
    for (List<E> batch = next(); !batch.isEmpty(); batch = next()) {
      to.accept(batch);
      interrupted |= Thread.interrupted(); // the interrupt of one call must not reach the next
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized List<E> next() {
    List<E> batch = new ArrayList<>(Math.min(maxBatch, queue.size()));
    while (batch.size() < maxBatch && !queue.isEmpty()) {
      batch.add(queue.remove());
    }
    running = !batch.isEmpty();
    notifyAll(); // there is room
    return batch;
  }
}
