// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.util.Objects.requireNonNull;

import io.timewheel.Timeout;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * A request in flight. The thread that removes it from its channel completes its future.
 *
 * @param <V> the type of the answer
 */
final class Request<V> extends TimedEntry {
  final Requests.Channel<V> channel;
  final long id;
  private final long timeoutNanos;
  final CompletableFuture<V> answer = new Answer<>(this);

  Request(Requests.Channel<V> channel, long id, Duration timeout) {
    this.channel = channel;
    this.id = id;
    timeoutNanos = Checks.timeoutNanos(timeout);
  }

  /** Starts the timeout. Throws the exceptions of the timer. */
  void start() {
    start(channel.owner.timer, () -> timeoutNanos);
  }

  @Override
  void fired() {
    if (channel.take(this)) {
      channel.owner.handOver(this, this::timeOut);
    }
  }

  /** Called for this class's own cancellations too, which have removed the request before. */
  @Override
  public void cancelled(Timeout timeout) {
    if (channel.take(this)) {
      channel.owner.handOver(this, this::cancel);
    }
  }

  private void timeOut() {
    answer.completeExceptionally(
        new TimeoutException(
            "no answer to request " + id + " within " + Duration.ofNanos(timeoutNanos)));
  }

  private void cancel() {
    answer.completeExceptionally(new CancellationException("the timer was stopped"));
  }

  /** The future of a request. Removes the request from the channel when the user completes it. */
  private static final class Answer<V> extends CompletableFuture<V> {
    private final Request<V> request;

    Answer(Request<V> request) {
      this.request = request;
    }

    @Override
    public boolean complete(V value) {
      request.channel.take(request);
      return super.complete(value);
    }

    @Override
    public boolean completeExceptionally(Throwable cause) {
      request.channel.take(request);
      return super.completeExceptionally(cause);
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
      request.channel.take(request);
      return super.cancel(mayInterruptIfRunning);
    }

    /**
     * Completes this future. Both overloads lead here. The inherited method would complete the
     * future and leave the request in its channel. As in the JDK, a supplier that is no longer
     * needed is not called.
     */
    @Override
    public CompletableFuture<V> completeAsync(Supplier<? extends V> supplier, Executor executor) {
      requireNonNull(supplier, "supplier");
      executor.execute(
          () -> {
            if (isDone()) {
              return;
            }
            try {
              complete(supplier.get());
            } catch (Throwable e) {
              completeExceptionally(e);
            }
          });
      return this;
    }

    /** Returns an ordinary future: dependent futures belong to no request. */
    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
      return new CompletableFuture<>();
    }
  }
}
