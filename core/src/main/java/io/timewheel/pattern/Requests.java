// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.util.Objects.requireNonNull;

import io.timewheel.Timer;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The requests in flight of a remote procedure call client: each has an id, a future for its
 * answer, and a timeout. It replaces a global map of futures and a timer joined by hand.
 *
 * <pre>{@code
 * Requests<Response> requests =
 *     Requests.<Response>builder(timer).onLate((id, answer) -> late.increment()).build();
 * Requests.Channel<Response> channel = requests.channel();
 *
 * CompletableFuture<Response> answer = channel.start(id, Duration.ofSeconds(3));
 * socket.write(request);
 * // on an answer:            channel.complete(response.id(), response);
 * // when the socket closes:  channel.close(new ClosedChannelException());
 * }</pre>
 *
 * <p>Each channel keeps its own ids, under a lock of its own. Closing one fails its requests and
 * looks at no other's.
 *
 * <h2>One outcome</h2>
 *
 * A future is completed once: by its answer or failure; with a {@link TimeoutException} when its
 * time is up; with the cause with which its channel was closed; with a {@link
 * CancellationException} when the timer is stopped; or by the user, who may cancel or complete it
 * at any time. Whichever comes first takes the request out of the channel and its timeout out of
 * the timer. An answer that finds no request, or comes second, goes to the hook for late answers.
 *
 * <h2>Threads</h2>
 *
 * Futures time out on the executor, or on a thread of their own, and never on the timer's thread
 * unless the queue to that executor overflows. All else happens on the thread that calls: what
 * depends on a future runs there, and under no lock.
 *
 * <p>A request in flight takes at most 160 bytes, its future, its timeout and its place in the
 * channel included.
 *
 * @param <V> the type of the answers
 */
public final class Requests<V> implements AutoCloseable {
  /**
   * Told of answers that come too late.
   *
   * @param <V> the type of the answers
   */
  @FunctionalInterface
  public interface LateAnswers<V> {
    /**
     * Takes an answer to a request that is not in flight (any more).
     *
     * @param id the id of the request
     * @param answer the answer
     */
    void late(long id, V answer);
  }

  private final Timer timer;
  private final Errors errors;
  private final LateAnswers<? super V> lateAnswers;
  final HandOff<Request<V>> expired;
  private final Set<Channel<V>> channels = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  Requests(RequestsBuilder<V> settings) {
    timer = settings.timer;
    errors = new Errors(settings.onError);
    lateAnswers = settings.lateAnswers;
    Consumer<List<Request<V>>> fail = batch -> batch.forEach(Request::timeOut);
    Executor executor = settings.executor;
    expired =
        new HandOff<>(
            executor == null ? HandOff.ownThread("timewheel-requests") : executor,
            65_536,
            false,
            64,
            fail,
            fail,
            errors);
  }

  /**
   * A builder of the keeper of requests.
   *
   * @param timer the timer that it is to use
   * @return a builder
   * @param <V> the type of the answers
   */
  public static <V> RequestsBuilder<V> builder(Timer timer) {
    return new RequestsBuilder<>(timer);
  }

  /**
   * Opens a channel: a connection, say, or one of a few stripes on which a client spreads its ids.
   *
   * @return a new channel, without requests
   * @throws IllegalStateException if this object is closed
   */
  public Channel<V> channel() {
    Channel<V> channel = new Channel<>(this);
    channels.add(channel);
    if (closed) { // after the adding: else the closing may pass it by
      channels.remove(channel);
      throw new IllegalStateException("the requests are closed");
    }
    return channel;
  }

  /** {@return how many requests are in flight on all channels; looks at every channel} */
  public long size() {
    return channels.stream().mapToLong(Channel::size).sum();
  }

  /** Closes all channels; their requests fail with a {@link CancellationException}. */
  @Override
  public void close() {
    closed = true;
    for (Channel<V> channel : channels) {
      channel.close(new CancellationException("the requests are closed"));
    }
  }

  private void late(long id, V answer) {
    errors.run(() -> lateAnswers.late(id, answer));
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
     * Enters a request, before it is sent. On a closed channel the future has failed already.
     *
     * @param id its id
     * @param timeout how long to wait for the answer
     * @return the future of the answer
     * @throws IllegalArgumentException if a request of this id is in flight on this channel
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
        request.file(owner.timer, request.timeoutNanos);
      } catch (Throwable e) {
        if (take(request)) {
          throw e;
        }
      }
      return request.answer;
    }

    /** Returns why the channel is closed, if it is. */
    private synchronized @Nullable Throwable enter(Request<V> request) {
      if (closed == null && !requests.putIfAbsent(request.id, request)) {
        throw new IllegalArgumentException(
            "id: " + request.id + " (expected: one of no request in flight)");
      }
      return closed;
    }

    /**
     * Brings the answer to a request.
     *
     * @param id its id
     * @param answer the answer
     * @return true if the future now has this answer; false if it came late, and went to the hook
     */
    public boolean complete(long id, V answer) {
      requireNonNull(answer, "answer");
      Request<V> request = take(id);
      boolean inTime = request != null && request.answer.complete(answer);
      if (!inTime) {
        owner.late(id, answer);
      }
      return inTime;
    }

    /**
     * Fails a request.
     *
     * @param id its id
     * @param cause why
     * @return true if the future now has failed with this; false if it was completed before
     */
    public boolean fail(long id, Throwable cause) {
      requireNonNull(cause, "cause");
      Request<V> request = take(id);
      return request != null && request.answer.completeExceptionally(cause);
    }

    /** {@return how many requests are in flight on this channel} */
    public synchronized int size() {
      return requests.size();
    }

    /**
     * Closes this channel: fails all its requests, and those that are started from now on.
     *
     * @param cause why
     * @return how many were in flight
     */
    public int close(Throwable cause) {
      requireNonNull(cause, "cause");
      List<Request<V>> inFlight;
      synchronized (this) {
        closed = closed == null ? cause : closed;
        inFlight = requests.drain();
      }
      owner.channels.remove(this);
      inFlight.forEach(Filed::settle);
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

    /** The same for a given request: its id may have been used again. */
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
}
