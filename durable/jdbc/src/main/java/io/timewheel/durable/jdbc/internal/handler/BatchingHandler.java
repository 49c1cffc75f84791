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
 * Puts firings that come from many threads into transactions of many. There are two transactions at
 * a time, each run by a thread of one of its firings; the others wait for it. What comes meanwhile
 * waits too, and is taken by the next: nothing waits for a batch to fill.
 */
public final class BatchingHandler implements FinishingHandler {
  private static final int TRANSACTIONS = 2;

  private final HandlerTransactions transactions;
  private final int maxBatch;
  private final ArrayDeque<Item> waiting = new ArrayDeque<>();
  private int running;

  /** A firing, whose thread waits for an end, or to be told to run a batch. */
  private static final class Item {
    final HandlerAttempt attempt;
    final BlockingQueue<Signal> signals = new LinkedBlockingQueue<>();

    Item(HandlerAttempt attempt) {
      this.attempt = attempt;
    }
  }

  /** What the thread of a firing waits for: a batch that it is to run, or how its own one ended. */
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
          interrupted = true; // it is in a transaction, which comes to an end
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

  /** How many firings wait for a transaction. */
  public synchronized int waiting() {
    return waiting.size();
  }

  private synchronized boolean withdraw(Item item) {
    return waiting.remove(item);
  }

  /** Takes the next batch; under the lock. */
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

  /** Runs a batch; one that fails as a whole, one by one. */
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

  /** Whether a transaction may have been committed: then nothing of it is repeated here. */
  private static boolean isUnknown(Throwable failure) {
    return failure instanceof StoreException e && e.kind() == StoreException.Kind.UNKNOWN;
  }
}
