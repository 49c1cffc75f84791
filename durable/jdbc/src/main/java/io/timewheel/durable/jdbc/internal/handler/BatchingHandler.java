// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.handler;

import io.timewheel.durable.model.Firing;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.FinishingHandler;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.StoreException;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Combines firings of many threads into batches of one transaction each. At most two transactions
 * run at a time, each on the thread of one of its firings; the other threads wait. A firing that
 * arrives meanwhile joins the next batch. No batch waits to fill up.
 */
public final class BatchingHandler implements FinishingHandler {
  private static final int TRANSACTIONS = 2;

  private final HandlerTransactions transactions;
  private final int maxBatch;
  private final ArrayDeque<Item> waiting = new ArrayDeque<>();
  private int running;

  /** A firing. Its thread waits for an outcome, or for a batch to run. */
  private static final class Item {
    final HandlerAttempt attempt;
    final BlockingQueue<Signal> signals = new LinkedBlockingQueue<>();

    Item(HandlerAttempt attempt) {
      this.attempt = attempt;
    }
  }

  /**
   * Ends the wait of a firing's thread: with a batch to run, or with the outcome of its own batch.
   */
  private record Signal(List<Item> batch, @Nullable Outcome outcome, @Nullable Throwable failure) {}

  public BatchingHandler(HandlerTransactions transactions, int maxBatch) {
    this.transactions = transactions;
    this.maxBatch = maxBatch;
  }

  @Override
  public Outcome handle(
      Firing firing, Change.Finish success, Function<Instant, Change.Finish> rescheduled)
      throws Exception {
    Item item = new Item(new HandlerAttempt(firing, success, rescheduled));
    List<Item> first = List.of();
    synchronized (this) {
      waiting.add(item);
      if (running < TRANSACTIONS) {
        running++;
        first = take();
      }
    }
    if (!first.isEmpty()) {
      runAndPassOn(first);
    }
    boolean interrupted = false;
    try {
      while (true) {
        Signal signal;
        try {
          signal = item.signals.take();
        } catch (InterruptedException e) {
          if (withdraw(item)) {
            throw e;
          }
          interrupted = true; // keep waiting: the transaction ends within its time limits
          continue;
        }
        if (signal.failure() != null) {
          throw asException(signal.failure());
        } else if (signal.outcome() != null) {
          return signal.outcome();
        }
        runAndPassOn(signal.batch());
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static Exception asException(Throwable failure) {
    if (failure instanceof Error error) {
      throw error;
    }
    return (Exception) failure;
  }

  /** {@return the number of firings that wait for a transaction} */
  public synchronized int waiting() {
    return waiting.size();
  }

  private synchronized boolean withdraw(Item item) {
    return waiting.remove(item);
  }

  /** Takes the next batch. The caller holds the lock. */
  private List<Item> take() {
    List<Item> batch = new ArrayList<>();
    while (batch.size() < maxBatch && !waiting.isEmpty()) {
      batch.add(waiting.remove());
    }
    return batch;
  }

  private void runAndPassOn(List<Item> batch) {
    try {
      run(batch);
    } finally {
      List<Item> next;
      synchronized (this) {
        next = take();
        running -= next.isEmpty() ? 1 : 0;
      }
      if (!next.isEmpty()) {
        next.get(0).signals.add(new Signal(next, null, null));
      }
    }
  }

  /** Runs a batch. If it fails as a whole, handles its firings one by one. */
  private void run(List<Item> batch) {
    List<Outcome> outcomes;
    try {
      outcomes = transactions.handle(batch.stream().map(item -> item.attempt).toList());
    } catch (Throwable e) {
      if (batch.size() == 1 || isUnknown(e)) {
        batch.forEach(item -> item.signals.add(new Signal(List.of(), null, e)));
      } else {
        batch.forEach(item -> run(List.of(item)));
      }
      return;
    }
    boolean applied =
        outcomes.stream().allMatch(outcome -> outcome.answer() == Outcome.Answer.APPLIED);
    if (applied || batch.size() == 1) {
      for (int i = 0; i < batch.size(); i++) {
        batch.get(i).signals.add(new Signal(List.of(), outcomes.get(i), null));
      }
    } else {
      batch.forEach(item -> run(List.of(item)));
    }
  }

  /**
   * Returns whether the transaction may have been committed. If so, nothing in it is repeated here.
   */
  private static boolean isUnknown(Throwable failure) {
    return failure instanceof StoreException e && e.kind() == StoreException.Kind.UNKNOWN;
  }
}
