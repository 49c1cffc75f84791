// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A bounded queue from the clock's thread to a listener that may be slow. It runs on the executor
 * while there is something in it, once at a time, and gives the listener batches in order.
 *
 * <p>What does not fit is given to the overflow listener by the thread that brings it; or the
 * clock's thread waits until there is room, if it is to block. If the executor rejects the run, all
 * that is queued is given to the overflow listener.
 *
 * @param <E> what is handed over
 */
final class HandOff<E> implements Runnable {
  private enum State {
    IDLE,
    SCHEDULED,
    RUNNING
  }

  private final Executor executor;
  private final int capacity;
  private final boolean blocks;
  private final int maxBatch;
  private final Consumer<? super List<E>> listener;
  private final Consumer<? super List<E>> overflow;
  private final Errors errors;

  // Both guarded by this.
  private final ArrayDeque<E> queue = new ArrayDeque<>();
  private State state = State.IDLE;

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

  /** A daemon thread of one's own, which ends when it has been idle for a while. */
  static Executor ownThread(String name) {
    ThreadPoolExecutor own =
        new ThreadPoolExecutor(
            1,
            1,
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

  /** By the clock's thread, which waits for room if it is to. */
  void put(E element) {
    put(element, blocks);
  }

  /** By any other thread: it may be the listener's, who would wait for itself. */
  void putAtOnce(E element) {
    put(element, false);
  }

  private void put(E element, boolean mayWait) {
    boolean fits;
    boolean idle;
    synchronized (this) {
      fits = mayWait ? awaitRoom() : queue.size() < capacity;
      idle = state == State.IDLE;
      if (fits) {
        queue.add(element);
        state = idle ? State.SCHEDULED : state;
      }
    }
    if (!fits) {
      give(overflow, List.of(element));
    } else if (idle) {
      schedule();
    }
  }

  /** Returns whether there is room. An interrupt ends the waiting, and stays. */
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

  private void schedule() {
    try {
      executor.execute(this);
    } catch (Throwable e) {
      errors.handle(e);
      drain(overflow);
    }
  }

  @Override
  public void run() {
    drain(listener);
  }

  /** Does nothing if it was begun: an executor may run what it then says it has rejected. */
  private void drain(Consumer<? super List<E>> to) {
    synchronized (this) {
      if (state != State.SCHEDULED) {
        return;
      }
      state = State.RUNNING;
    }
    for (List<E> batch = next(); !batch.isEmpty(); batch = next()) {
      give(to, batch);
    }
  }

  private synchronized List<E> next() {
    List<E> batch = new ArrayList<>(Math.min(maxBatch, queue.size()));
    while (batch.size() < maxBatch && !queue.isEmpty()) {
      batch.add(queue.remove());
    }
    if (batch.isEmpty()) {
      state = State.IDLE;
    }
    notifyAll(); // there is room
    return batch;
  }

  private void give(Consumer<? super List<E>> to, List<E> batch) {
    try {
      to.accept(batch);
    } catch (Throwable e) {
      errors.handle(e);
    }
  }
}
