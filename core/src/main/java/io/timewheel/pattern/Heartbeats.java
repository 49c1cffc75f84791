// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.util.Objects.requireNonNull;

import io.timewheel.TimeSource;
import io.timewheel.Timer;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Detects idle connections. Sends a heartbeat if nothing was written for a time, and reconnects or
 * closes if nothing was read. It replaces timer tasks that reschedule themselves, and idle handlers
 * that cancel and start a timeout for every message.
 *
 * <pre>{@code
 * Heartbeats<Channel> heartbeats =
 *     Heartbeats.<Channel>builder(timer, executor)
 *         .onWriteIdle(ofSeconds(20), connection -> connection.key().write(PING))
 *         .onReadIdle(ofSeconds(60), connection -> connection.key().close())
 *         .build();
 *
 * Heartbeats.Connection<Channel> connection = heartbeats.add(channel);
 * // on every message: connection.read(), connection.written()
 * // when it is closed: connection.close(), or heartbeats.close(channel)
 * }</pre>
 *
 * <h2>Guarantees</h2>
 *
 * <ul>
 *   <li>A callback runs if nothing was read, nothing was written, or neither, for its idle time. It
 *       runs at the first tick at or after the end of that time, never earlier. It runs again after
 *       every further idle time, until a message arrives or the connection is closed here. If a
 *       message arrives while the callback waits for the executor, it does not run.
 *   <li>A message costs one clock reading and one plain write, and no call of the timer. When the
 *       timeout fires, it reads the time of the last message, and is re-armed for the remaining
 *       time. If two threads report a message at the same moment, the last write counts.
 *   <li>Callbacks run on the executor. The same timeout is re-armed before they are handed over, so
 *       the next check happens whatever they do or throw, and whatever the timer's limit. A
 *       callback never overlaps with itself: while it runs, or waits for the executor, the next
 *       call is skipped. A call that the executor rejects is skipped too, and the handler is
 *       notified. A callback that blocks occupies one thread of the executor and delays nothing
 *       else. The executor may have dropped a waiting call. So the call is offered again at the
 *       first, second, fourth and eighth time that it is due after that, and so on. It still runs
 *       only once.
 *   <li>The first heartbeat is sent after a random part of the idle time. So connections that are
 *       opened together do not send their heartbeats together. The checks of {@code onReadIdle} and
 *       {@code onAllIdle} have no such jitter.
 *   <li>No callback begins after {@link Connection#close()}, except one that another thread is
 *       about to begin at that moment.
 *   <li>If the timer is stopped, connections are no longer watched.
 * </ul>
 *
 * <p>A connection takes 152 bytes plus its key, including its timeout and the map's node.
 *
 * @param <K> the type of the connections
 */
public final class Heartbeats<K> implements AutoCloseable {
  /**
   * A watched connection. All methods may be called from any thread.
   *
   * @param <K> the type of the connections
   */
  public sealed interface Connection<K> extends AutoCloseable permits Watched {
    /** {@return the connection that was added} */
    K key();

    /** Records that something was read. */
    void read();

    /** Records that something was written. */
    void written();

    /** Stops watching this connection. */
    @Override
    void close();
  }

  /** The direction of messages that an alarm watches. */
  enum Direction {
    READ(0),
    WRITE(8),
    ALL(16);

    /** The position of the state of its calls; see {@link Watched}. */
    final int shift;

    Direction(int shift) {
      this.shift = shift;
    }
  }

  /** A callback that is due after a direction was silent for a time. */
  record Alarm<K>(Direction direction, long idleNanos, Consumer<? super Connection<K>> callback) {}

  final Timer timer;
  final TimeSource clock;
  final Executor executor;
  final Errors errors;
  final Alarm<K> readIdle;
  final Alarm<K> writeIdle;
  final Alarm<K> allIdle;
  private final DoubleSupplier random;
  private final ConcurrentHashMap<K, Watched<K>> connections = new ConcurrentHashMap<>();
  private volatile boolean closed;

  private Heartbeats(Builder<K> settings) {
    timer = settings.timer;
    clock = timer.timeSource();
    executor = settings.executor;
    errors = new Errors(Heartbeats.class, settings.onError);
    readIdle = settings.readIdle;
    writeIdle = settings.writeIdle;
    allIdle = settings.allIdle;
    random = settings.random;
  }

  /**
   * Returns a builder of heartbeats.
   *
   * @param timer the timer for the timeouts
   * @param executor runs the callbacks
   * @return a builder
   * @param <K> the type of the connections
   */
  public static <K> Builder<K> builder(Timer timer, Executor executor) {
    return new Builder<>(timer, executor);
  }

  /**
   * Starts watching a connection, and replaces an equal one. If this throws, the old one is still
   * watched.
   *
   * @param key the connection
   * @return the handle to notify of its messages
   * @throws IllegalStateException if this object or its timer is stopped
   * @throws java.util.concurrent.RejectedExecutionException if the timer is at its limit
   */
  public Connection<K> add(K key) {
    Watched<K> connection = new Watched<>(this, requireNonNull(key, "key"), random.getAsDouble());
    connection.start(); // before the equal one is replaced
    Watched<K> former = connections.put(key, connection);
    if (former != null) {
      former.settle();
    }
    if (closed) { // after adding: otherwise, a close may miss it
      forget(connection);
      throw new IllegalStateException("the heartbeats are closed");
    }
    if (connection.isSettled()) {
      forget(connection); // the timer was stopped before it was added
    }
    return connection;
  }

  /**
   * Returns the handle of a connection.
   *
   * @param key the connection
   * @return the handle to notify of its messages; null if the connection is not watched
   */
  public @Nullable Connection<K> get(K key) {
    return connections.get(key);
  }

  /**
   * Stops watching a connection.
   *
   * @param key the connection
   * @return whether it was watched
   */
  public boolean close(K key) {
    Watched<K> connection = connections.remove(key);
    if (connection != null) {
      connection.settle();
    }
    return connection != null;
  }

  /** {@return how many connections are watched} */
  public long size() {
    return connections.mappingCount();
  }

  /** Stops watching all connections, and refuses new ones. */
  @Override
  public void close() {
    closed = true;
    connections.values().forEach(this::forget);
  }

  void forget(Watched<K> connection) {
    connections.remove(connection.key(), connection);
    connection.settle();
  }

  /**
   * The settings of {@link Heartbeats}: at least one of the three callbacks must be set. Not
   * thread-safe.
   *
   * @param <K> the type of the connections
   */
  public static final class Builder<K> {
    private final Timer timer;
    private final Executor executor;
    private Alarm<K> readIdle = never(Direction.READ);
    private Alarm<K> writeIdle = never(Direction.WRITE);
    private Alarm<K> allIdle = never(Direction.ALL);
    private DoubleSupplier random = () -> ThreadLocalRandom.current().nextDouble();
    private PatternErrorHandler onError = Errors::log;
    private boolean watches;

    private Builder(Timer timer, Executor executor) {
      this.timer = requireNonNull(timer, "timer");
      this.executor = requireNonNull(executor, "executor");
    }

    private static <K> Alarm<K> never(Direction direction) {
      return new Alarm<>(direction, TimedEntry.NEVER, connection -> {});
    }

    private Alarm<K> alarm(
        Direction direction, Duration idle, Consumer<? super Connection<K>> callback) {
      watches = true;
      return new Alarm<>(direction, Checks.positiveNanos("idle", idle), callback);
    }

    /**
     * Sets the callback for a connection from which nothing was read. Typical use: close, or
     * reconnect.
     *
     * @param idle how long nothing was read
     * @param onReadIdle receives the connection, again after every such time
     * @return this builder
     */
    public Builder<K> onReadIdle(Duration idle, Consumer<? super Connection<K>> onReadIdle) {
      readIdle = alarm(Direction.READ, idle, requireNonNull(onReadIdle, "onReadIdle"));
      return this;
    }

    /**
     * Sets the callback for a connection to which nothing was written. Typical use: write a
     * heartbeat.
     *
     * @param idle how long nothing was written
     * @param onWriteIdle receives the connection, again after every such time
     * @return this builder
     */
    public Builder<K> onWriteIdle(Duration idle, Consumer<? super Connection<K>> onWriteIdle) {
      writeIdle = alarm(Direction.WRITE, idle, requireNonNull(onWriteIdle, "onWriteIdle"));
      return this;
    }

    /**
     * Sets the callback for a connection without reads and writes. Typical use: close unused
     * connections.
     *
     * @param idle how long there were neither reads nor writes
     * @param onAllIdle receives the connection, again after every such time
     * @return this builder
     */
    public Builder<K> onAllIdle(Duration idle, Consumer<? super Connection<K>> onAllIdle) {
      allIdle = alarm(Direction.ALL, idle, requireNonNull(onAllIdle, "onAllIdle"));
      return this;
    }

    /**
     * Sets the source of randomness for the first heartbeat.
     *
     * @param random supplies numbers from 0 to 1: the part of the idle time before the first
     *     heartbeat
     * @return this builder
     */
    public Builder<K> random(DoubleSupplier random) {
      this.random = requireNonNull(random, "random");
      return this;
    }

    /**
     * Sets the handler of everything that callbacks and the executor throw. By default, errors are
     * logged.
     *
     * @param onError the handler
     * @return this builder
     */
    public Builder<K> onError(PatternErrorHandler onError) {
      this.onError = requireNonNull(onError, "onError");
      return this;
    }

    /**
     * Makes heartbeats with these settings.
     *
     * @return new heartbeats
     * @throws IllegalStateException if no callback is set
     */
    public Heartbeats<K> build() {
      if (!watches) {
        throw new IllegalStateException("none of onReadIdle, onWriteIdle and onAllIdle is set");
      }
      return new Heartbeats<>(this);
    }
  }
}
