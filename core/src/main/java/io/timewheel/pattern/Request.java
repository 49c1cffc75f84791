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
 * A request in flight; whoever takes it out of its channel completes its future.
 *
 * @param <V> the type of the answer
 */
final class Request<V> extends Filed {
  final Requests.Channel<V> channel;
  final long id;
  final long timeoutNanos;
  final CompletableFuture<V> answer = new Answer<>(this);

  /** Published by the queue of the expired. */
  private boolean cancelled;

  Request(Requests.Channel<V> channel, long id, Duration timeout) {
    this.channel = channel;
    this.id = id;
    timeoutNanos = Checks.timeoutNanos(timeout);
  }

  @Override
  public void run(Timeout timeout) {
    if (channel.take(this)) {
      channel.owner.expired.put(this);
    }
  }

  /** Called for our own cancellations too, which have taken it before. */
  @Override
  public void cancelled(Timeout timeout) {
    if (channel.take(this)) {
      cancelled = true;
      channel.owner.expired.put(this);
    }
  }

  void timeOut() {
    answer.completeExceptionally(
        cancelled
            ? new CancellationException("the timer was stopped")
            : new TimeoutException(
                "no answer to request " + id + " within " + Duration.ofNanos(timeoutNanos)));
  }

  /** Takes its request out of the channel when the user completes it. */
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
     * Both of its kind lead here. As it is inherited, it would go past the request. The supplier is
     * not asked for what is not needed any more.
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

    /** What is derived from it is an ordinary future. */
    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
      return new CompletableFuture<>();
    }
  }
}
