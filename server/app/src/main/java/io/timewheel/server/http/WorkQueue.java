// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import io.timewheel.server.problem.Problem;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.util.thread.Scheduler;
import org.jspecify.annotations.Nullable;

/**
 * Runs the steps of requests that may block, a limited number at a time, on the threads of their
 * requests. Other steps wait without a thread, and clients take turns. A request is answered 503 if
 * the queue is full, or if it waits too long. One client may fill half of the queue. Thread-safe.
 *
 * <p>A request occupies a slot only while a step runs, so a client that reads its answer slowly
 * blocks no other client.
 */
final class WorkQueue {
  private final int atATime;
  private final int maxWaiting;
  private final Duration maxWait;
  private final FairQueue<QueuedWork> waiting = new FairQueue<>();
  private int running;

  WorkQueue(int atATime, int maxWaiting, Duration maxWait) {
    this.atATime = atATime;
    this.maxWaiting = maxWaiting;
    this.maxWait = maxWait;
  }

  /** A step that waits for a slot. */
  private static final class QueuedWork {
    final Exchange exchange;
    final Exchange.Step step;
    Scheduler.@Nullable Task timeout;

    QueuedWork(Exchange exchange, Exchange.Step step) {
      this.exchange = exchange;
      this.step = step;
    }
  }

  /** Runs a step, at once or later. An exception of the step is answered. */
  void run(Exchange exchange, Exchange.Step step) {
    synchronized (this) {
      if (running == atATime) {
        await(new QueuedWork(exchange, step));
        return;
      }
      running++;
    }
    runInTurn(exchange, step);
  }

  private void await(QueuedWork step) {
    String client = step.exchange.request().client();
    if (waiting.size() >= maxWaiting) {
      throw full("limit: " + maxWaiting);
    }
    int half = (maxWaiting + 1) / 2;
    if (waiting.size(client) >= half) {
      throw full("limit of one client: " + half);
    }
    waiting.add(client, step);
    step.timeout =
        step.exchange
            .request()
            .http()
            .getConnectionMetaData()
            .getConnector()
            .getScheduler()
            .schedule(() -> expire(step), maxWait.toMillis(), TimeUnit.MILLISECONDS);
  }

  private static Problem.Failure full(String limit) {
    return Problem.busy("too many requests of this kind wait (" + limit + ")").failure();
  }

  private void expire(QueuedWork step) {
    boolean expired;
    synchronized (this) {
      expired = waiting.remove(step.exchange.request().client(), step);
    }
    if (expired) {
      step.exchange.problem(Problem.busy("the request waited longer than " + maxWait));
    }
  }

  private void runInTurn(Exchange exchange, Exchange.Step step) {
    try {
      if (!exchange.isAnswered()) { // the store timeout may have passed
        exchange.run(step);
      }
    } finally {
      next();
    }
  }

  private void next() {
    QueuedWork next;
    synchronized (this) {
      next = waiting.poll();
      if (next == null) {
        running--;
        return;
      }
      if (next.timeout != null) {
        next.timeout.cancel();
      }
    }
    QueuedWork step = next;
    Executor executor = step.exchange.request().http().getComponents().getExecutor();
    try {
      executor.execute(() -> runInTurn(step.exchange, step.step));
    } catch (RejectedExecutionException e) {
      Problem down = Problem.unavailable("the server is shutting down");
      runInTurn(step.exchange, () -> step.exchange.problem(down));
    }
  }
}
