// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.util.Objects.requireNonNull;

import io.timewheel.Timer;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;

/**
 * Connections that must not fall silent: a beat when nothing was written for a while; a reconnect,
 * or the end, when nothing was read. It replaces timer tasks that put themselves back, and idle
 * handlers that cancel and start a timeout for every message.
 *
 * <pre>{@code
 * Heartbeats<Channel> heartbeats =
 *     Heartbeats.<Channel>builder(timer, executor)
 *         .onWriteIdle(ofSeconds(20), channel -> channel.write(PING))
 *         .onReadIdle(ofSeconds(60), channel -> channel.close())
 *         .build();
 *
 * Heartbeats.Connection connection = heartbeats.add(channel);
 * // on every message: connection.read(), connection.written()
 * // when it is closed: connection.close()
 * }</pre>
 *
 * <h2>What is promised</h2>
 *
 * <ul>
 *   <li>When nothing was read, or written, for its time, the callback runs, at the first tick at or
 *       after that moment and never earlier; and again after every such time until something is, or
 *       the connection is closed here.
 *   <li>A message costs a reading of the clock and one plain write. The timer does not notice: its
 *       timeout looks at what was written when it fires, and is filed anew for what remains. Of two
 *       threads that tell of a message at the same moment, the one that writes last counts.
 *   <li>Callbacks run on the executor. The next look at the connection is filed before they run, so
 *       whatever they do or throw, it comes. A callback that is still running, or waiting for the
 *       executor, is not run a second time beside itself: that beat is skipped, as is one that the
 *       executor rejects, of which the handler is told. A callback that blocks holds up a thread of
 *       the executor and nobody else.
 *   <li>The first beat comes after a random part of its time, and not earlier: connections that are
 *       opened together do not beat together. For reading there is no such thing.
 *   <li>No callback begins after {@link Connection#close()}, except one that another thread is just
 *       about to begin.
 *   <li>If the timer is stopped or refuses to file a connection, it is watched no longer.
 * </ul>
 *
 * <p>A connection takes 144 bytes beside its key, its timeout and the map's node included.
 *
 * @param <K> the type of the connections
 */
public final class Heartbeats<K> implements AutoCloseable {
  /** A connection that is watched. All methods may be called from any thread. */
  public sealed interface Connection extends AutoCloseable permits Watched {
    /** Something was read. */
    void read();

    /** Something was written. */
    void written();

    /** Watches this connection no longer. */
    @Override
    void close();
  }

  final Timer timer;
  final Elapsed clock;
  final Executor executor;
  final Errors errors;
  final long readIdleNanos;
  final long writeIdleNanos;
  final Consumer<? super K> onReadIdle;
  final Consumer<? super K> onWriteIdle;
  private final DoubleSupplier random;
  private final ConcurrentHashMap<K, Watched<K>> connections = new ConcurrentHashMap<>();
  private volatile boolean closed;

  private Heartbeats(Builder<K> settings) {
    timer = settings.timer;
    clock = new Elapsed(timer);
    executor = settings.executor;
    errors = new Errors(settings.onError);
    readIdleNanos = settings.readIdleNanos;
    writeIdleNanos = settings.writeIdleNanos;
    onReadIdle = settings.onReadIdle;
    onWriteIdle = settings.onWriteIdle;
    random = settings.random;
  }

  /**
   * A builder of heartbeats.
   *
   * @param timer the timer that they are to use
   * @param executor runs the callbacks
   * @return a builder
   * @param <K> the type of the connections
   */
  public static <K> Builder<K> builder(Timer timer, Executor executor) {
    return new Builder<>(timer, executor);
  }

  /**
   * Watches a connection from now on, in the place of the one that is equal to it, if there is one.
   *
   * @param key the connection
   * @return what is to be told of its messages
   * @throws IllegalStateException if this object or its timer is stopped
   * @throws java.util.concurrent.RejectedExecutionException if the timer is at its limit
   */
  public Connection add(K key) {
    Watched<K> connection =
        new Watched<>(this, requireNonNull(key, "key"), clock.nanos(), random.getAsDouble());
    Watched<K> former = connections.put(key, connection);
    if (former != null) {
      former.settle();
    }
    try {
      if (closed) { // after the adding: else closing may pass it by
        throw new IllegalStateException("the heartbeats are closed");
      }
      connection.start();
    } catch (Throwable e) {
      close(connection);
      throw e;
    }
    return connection;
  }

  /** {@return how many connections are watched} */
  public long size() {
    return connections.mappingCount();
  }

  /** Watches no connection any longer, and refuses more. */
  @Override
  public void close() {
    closed = true;
    connections.values().forEach(this::close);
  }

  void close(Watched<K> connection) {
    connections.remove(connection.key, connection);
    connection.settle();
  }

  /**
   * The settings of {@link Heartbeats}: at least one of the two callbacks must be set. Not
   * thread-safe.
   *
   * @param <K> the type of the connections
   */
  public static final class Builder<K> {
    private final Timer timer;
    private final Executor executor;
    private long readIdleNanos = Long.MAX_VALUE;
    private long writeIdleNanos = Long.MAX_VALUE;
    private Consumer<? super K> onReadIdle = key -> {};
    private Consumer<? super K> onWriteIdle = key -> {};
    private DoubleSupplier random = () -> ThreadLocalRandom.current().nextDouble();
    private Consumer<? super Throwable> onError = Errors::log;

    private Builder(Timer timer, Executor executor) {
      this.timer = requireNonNull(timer, "timer");
      this.executor = requireNonNull(executor, "executor");
    }

    /**
     * Sets what to do when nothing was read: close, or reconnect.
     *
     * @param idle for how long nothing was read
     * @param onReadIdle is told of the connection, again after every such time
     * @return this builder
     */
    public Builder<K> onReadIdle(Duration idle, Consumer<? super K> onReadIdle) {
      readIdleNanos = Checks.positiveNanos("idle", idle);
      this.onReadIdle = requireNonNull(onReadIdle, "onReadIdle");
      return this;
    }

    /**
     * Sets what to do when nothing was written: write a beat.
     *
     * @param idle for how long nothing was written
     * @param onWriteIdle is told of the connection, again after every such time
     * @return this builder
     */
    public Builder<K> onWriteIdle(Duration idle, Consumer<? super K> onWriteIdle) {
      writeIdleNanos = Checks.positiveNanos("idle", idle);
      this.onWriteIdle = requireNonNull(onWriteIdle, "onWriteIdle");
      return this;
    }

    /**
     * Sets where the randomness of the first beat comes from.
     *
     * @param random gives numbers from 0 to 1: which part of its time the first beat waits
     * @return this builder
     */
    public Builder<K> random(DoubleSupplier random) {
      this.random = requireNonNull(random, "random");
      return this;
    }

    /**
     * Sets who is told of what callbacks and executor throw: by default a log.
     *
     * @param onError is told
     * @return this builder
     */
    public Builder<K> onError(Consumer<? super Throwable> onError) {
      this.onError = requireNonNull(onError, "onError");
      return this;
    }

    /**
     * Makes heartbeats with these settings.
     *
     * @return new heartbeats
     * @throws IllegalStateException if neither callback is set
     */
    public Heartbeats<K> build() {
      if (readIdleNanos == Long.MAX_VALUE && writeIdleNanos == Long.MAX_VALUE) {
        throw new IllegalStateException("neither onReadIdle nor onWriteIdle is set");
      }
      return new Heartbeats<>(this);
    }
  }
}
