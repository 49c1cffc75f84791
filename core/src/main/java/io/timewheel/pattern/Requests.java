// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.util.Objects.requireNonNull;

import io.timewheel.Timer;
import io.timewheel.concurrent.Deadline;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The requests in flight of an RPC client. Each has an ID, a future for its answer, and a timeout.
 * It replaces a global map of futures and a timer combined by hand.
 *
 * <pre>{@code
 * Requests<Response> requests =
 *     Requests.<Response>builder(timer).onLate((where, id, answer) -> late.increment()).build();
 * Requests.Channel<Response> channel = requests.channel();
 *
 * CompletableFuture<Response> answer = channel.start(id, Duration.ofSeconds(3));
 * socket.write(request);
 * // on an answer:            channel.complete(response.id(), response);
 * // when the socket closes:  channel.close(new ClosedChannelException());
 * }</pre>
 *
 * <p>Each channel has its own IDs, under its own lock. Closing a channel fails its requests and
 * reads no others.
 *
 * <h2>One outcome</h2>
 *
 * A future is completed once, by the first of these events. Its answer or failure arrives. It times
 * out with a {@link TimeoutException}. Its channel is closed with a given cause. The timer is
 * stopped, which causes a {@link CancellationException}. Or the user cancels or completes the
 * future. That event also removes the request from the channel and its timeout from the timer. An
 * answer without a request in flight goes to the hook for late answers.
 *
 * <h2>Threads</h2>
 *
 * Each future that times out is completed by a separate task on the executor. A dependent that
 * blocks occupies one thread of the executor, and delays no other request if there is another
 * thread. The executor limits how many tasks may wait. If it rejects a task, the future is
 * completed on the timer thread, so none is left incomplete. To prevent that, use an executor with
 * an unbounded queue, like the default. A future whose task the executor silently drops is never
 * completed. All other completions happen on the calling thread. Dependents of a future run there,
 * under no lock.
 *
 * <p>A request in flight takes at most 160 bytes, including its future, its timeout and its entry
 * in the channel.
 *
 * @param <V> the type of the answers
 */
public final class Requests<V> implements AutoCloseable {
  /**
   * Receives answers that arrive too late.
   *
   * @param <V> the type of the answers
   */
  @FunctionalInterface
  public interface LateAnswers<V> {
    /**
     * Receives an answer to a request that is not, or is no longer, in flight.
     *
     * @param channel the channel on which the answer arrived
     * @param id the ID of the request
     * @param answer the answer; null only if null was passed to {@link Channel#complete}
     */
    void late(Channel<V> channel, long id, @Nullable V answer);
  }

  final Timer timer;
  private final Executor executor;
  private final Errors errors;
  private final LateAnswers<V> lateAnswers;
  private final Set<Channel<V>> channels = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  private Requests(Builder<V> settings) {
    timer = settings.timer;
    Executor given = settings.executor;
    executor = given == null ? OwnThreads.createPool("timewheel-requests") : given;
    errors = new Errors(Requests.class, settings.onError);
    lateAnswers = settings.lateAnswers;
  }

  /**
   * Returns a builder of requests.
   *
   * @param timer the timer for the timeouts
   * @return a builder
   * @param <V> the type of the answers
   */
  public static <V> Builder<V> builder(Timer timer) {
    return new Builder<>(timer);
  }

  /**
   * Opens a channel: for a connection, or for one of a few stripes over which a client spreads its
   * IDs.
   *
   * @return a new channel, without requests
   * @throws IllegalStateException if this object is closed
   */
  public Channel<V> channel() {
    Channel<V> channel = new Channel<>(this);
    channels.add(channel);
    if (closed) { // after adding: otherwise, a close may miss it
      channels.remove(channel);
      throw new IllegalStateException("the requests are closed");
    }
    return channel;
  }

  /** {@return the number of requests in flight on all channels; reads every channel} */
  public long size() {
    return channels.stream().mapToLong(Channel::size).sum();
  }

  /** Closes all channels. Their requests fail with a {@link CancellationException}. */
  @Override
  public void close() {
    closed = true;
    for (Channel<V> channel : channels) {
      channel.close(new CancellationException("the requests are closed"));
    }
  }

  private void late(Channel<V> channel, long id, @Nullable V answer) {
    errors.run(id, () -> lateAnswers.late(channel, id, answer));
  }

  /**
   * Completes a future on the executor. A future is completed once, so an executor that accepts the
   * task and then rejects it does no harm.
   */
  void handOver(Request<V> request, Runnable completion) {
    try {
      executor.execute(completion);
    } catch (Throwable e) {
      errors.handle(request.id, e);
      completion.run();
    }
  }

  /**
   * The requests of one connection. All methods may be called from any thread.
   *
   * @param <V> the type of the answers
   */
  public static final class Channel<V> {
    final Requests<V> owner;

    // Both guarded by this.
    private final LongMap<Request<V>> requests = new LongMap<>();
    private @Nullable Throwable closed;

    Channel(Requests<V> owner) {
      this.owner = owner;
    }

    /**
     * Registers a request before it is sent. On a closed channel, the returned future has already
     * failed.
     *
     * @param id the ID of the request
     * @param timeout how long to wait for the answer
     * @return the future of the answer
     * @throws IllegalArgumentException if a request with this ID is in flight on this channel
     * @throws IllegalStateException if the timer is stopped
     * @throws java.util.concurrent.RejectedExecutionException if the timer is at its limit
     */
    public CompletableFuture<V> start(long id, Duration timeout) {
      Request<V> request = new Request<>(this, id, timeout);
      Throwable cause = enter(request);
      if (cause != null) {
        request.answer.completeExceptionally(cause);
        return request.answer;
      }
      try {
        request.start();
      } catch (Throwable e) {
        if (take(request)) {
          throw e;
        }
      }
      return request.answer;
    }

    /**
     * Registers a request under the caller's deadline.
     *
     * @param id the ID of the request
     * @param deadline the time until which to wait for the answer; if it has passed, the request
     *     times out at the next tick
     * @return the future of the answer
     * @throws IllegalArgumentException if a request with this ID is in flight on this channel
     * @throws IllegalStateException if the timer is stopped
     * @throws java.util.concurrent.RejectedExecutionException if the timer is at its limit
     */
    public CompletableFuture<V> start(long id, Deadline deadline) {
      return start(id, requireNonNull(deadline, "deadline").remaining());
    }

    /** Adds a request. Returns the cause if the channel is closed, otherwise null. */
    private synchronized @Nullable Throwable enter(Request<V> request) {
      if (closed == null && !requests.putIfAbsent(request.id, request)) {
        throw new IllegalArgumentException(
            "id: " + request.id + " (expected: an ID of no request in flight)");
      }
      return closed;
    }

    /**
     * Completes a request with its answer.
     *
     * @param id the ID of the request
     * @param answer the answer; may be null, as for a {@code Requests<Void>}
     * @return true if the future now has this answer; false if the answer was late, and went to the
     *     hook
     */
    @SuppressWarnings("NullAway") // the type parameter cannot express that futures may hold null
    public boolean complete(long id, @Nullable V answer) {
      Request<V> request = take(id);
      boolean inTime = request != null && request.answer.complete(answer);
      if (!inTime) {
        owner.late(this, id, answer);
      }
      return inTime;
    }

    /**
     * Fails a request.
     *
     * @param id the ID of the request
     * @param cause the cause of the failure
     * @return true if the future has now failed with this cause; false if it was completed before
     */
    public boolean fail(long id, Throwable cause) {
      requireNonNull(cause, "cause");
      Request<V> request = take(id);
      return request != null && request.answer.completeExceptionally(cause);
    }

    /** {@return the number of requests in flight on this channel} */
    public synchronized int size() {
      return requests.size();
    }

    /**
     * Closes this channel. Fails all its requests, and those started from now on.
     *
     * @param cause the cause of the failures
     * @return how many requests were in flight
     */
    public int close(Throwable cause) {
      requireNonNull(cause, "cause");
      List<Request<V>> inFlight;
      synchronized (this) {
        closed = closed == null ? cause : closed;
        inFlight = requests.drain();
      }
      owner.channels.remove(this);
      inFlight.forEach(TimedEntry::settle);
      inFlight.forEach(request -> request.answer.completeExceptionally(cause));
      return inFlight.size();
    }

    private @Nullable Request<V> take(long id) {
      Request<V> request;
      synchronized (this) {
        request = requests.remove(id);
      }
      if (request != null) {
        request.settle();
      }
      return request;
    }

    /**
     * Removes a given request. Unlike removal by ID, this leaves a later request with the same ID.
     * Returns whether this call removed it.
     */
    boolean take(Request<V> request) {
      synchronized (this) {
        if (requests.get(request.id) != request) {
          return false;
        }
        requests.remove(request.id);
      }
      request.settle();
      return true;
    }
  }

  /**
   * The settings of {@link Requests}. Not thread-safe.
   *
   * @param <V> the type of the answers
   */
  public static final class Builder<V> {
    private final Timer timer;
    private @Nullable Executor executor;
    private LateAnswers<V> lateAnswers = (channel, id, answer) -> {};
    private PatternErrorHandler onError = Errors::log;

    private Builder(Timer timer) {
      this.timer = requireNonNull(timer, "timer");
    }

    /**
     * Sets the executor that completes the futures of requests that time out. The default is a pool
     * with one daemon thread per processor, at least two.
     *
     * @param executor completes each future in a separate task
     * @return this builder
     */
    public Builder<V> executor(Executor executor) {
      this.executor = requireNonNull(executor, "executor");
      return this;
    }

    /**
     * Sets the hook for late answers, called by the thread that delivers the answer.
     *
     * @param lateAnswers receives each late answer
     * @return this builder
     */
    public Builder<V> onLate(LateAnswers<V> lateAnswers) {
      this.lateAnswers = requireNonNull(lateAnswers, "lateAnswers");
      return this;
    }

    /**
     * Sets the handler of everything that the hook and the executor throw. By default, errors are
     * logged. The key is the ID of the request.
     *
     * @param onError the handler
     * @return this builder
     */
    public Builder<V> onError(PatternErrorHandler onError) {
      this.onError = requireNonNull(onError, "onError");
      return this;
    }

    /** {@return requests with these settings, without a channel yet} */
    public Requests<V> build() {
      return new Requests<>(this);
    }
  }
}
