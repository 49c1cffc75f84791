// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.util.Objects.requireNonNull;

import io.timewheel.TimeSource;
import io.timewheel.Timer;
import io.timewheel.concurrent.Deadline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Retries failed operations until they succeed: registrations, deliveries, reconnects. It replaces
 * timer tasks that reschedule themselves.
 *
 * <pre>{@code
 * Retries<Url> registrations =
 *     Retries.builder(timer, executor, (Url url, int attempt) -> registry.register(url)) // or throws
 *         .backoff(Backoff.exponential(ofMillis(500), ofSeconds(30)).withFullJitter())
 *         .maxAttempts(20)
 *         .attemptTimeLimit(ofSeconds(5))
 *         .abortOn(error -> error instanceof ForbiddenException)
 *         .onExhausted((url, error) -> log.error("gave up " + url, error))
 *         .build();
 *
 * registrations.add(url);    // after a failure: the first attempt follows the first delay
 * registrations.cancel(url); // no longer needed
 * }</pre>
 *
 * <h2>Guarantees</h2>
 *
 * <ul>
 *   <li>Attempts for a key do not overlap: the wait for the next attempt begins when the previous
 *       one has ended. Adding a key again while it is being retried has no effect.
 *   <li>A key has one of three outcomes, and can then be added again. An attempt succeeds, and
 *       {@code onSuccess} is notified once. {@link #cancel} or {@link #cancelAll} removes it. Or it
 *       is exhausted, and {@code onExhausted} is notified once. A key is exhausted if its last
 *       attempt fails, if {@code abortOn} accepts a failure, or if the next attempt would begin
 *       after its time limit. It is also exhausted if {@code abortOn} or the backoff throws.
 *   <li>Attempts run on the executor. They run on the timer thread only if the executor is direct,
 *       like {@code Runnable::run}. An attempt that the executor rejects, or accepts and does not
 *       begin, does not count. It is offered again after one, two, four seconds, and so on up to a
 *       minute, and the handler is notified of each rejection. {@code onSuccess} and {@code
 *       onExhausted} run on the executor too. If the executor rejects them, they run on the thread
 *       that determined the outcome.
 *   <li>An attempt that exceeds its time limit fails with a {@link TimeoutException}. The timer
 *       submits this failure to the executor. If the executor has no free thread, the failure takes
 *       effect when a thread is free, or when the attempt returns or throws. The outcome is a
 *       timeout in each case. Cancelling and time limits do not interrupt: an attempt that has
 *       begun continues, and its outcome is ignored. The key may be tried again at the same time.
 *   <li>A key counts as one pending timeout until its outcome, even during an attempt. The timer's
 *       limit can refuse it only when it is added. If the timer is stopped, waiting keys are
 *       dropped, and a key whose running attempt then fails is exhausted.
 * </ul>
 *
 * <p>A key takes 128 bytes plus itself, including its timeout and the map's node.
 *
 * @param <K> the type of the keys
 */
public final class Retries<K> implements AutoCloseable {
  /**
   * One attempt.
   *
   * @param <K> the type of the keys
   */
  @FunctionalInterface
  public interface Attempt<K> {
    /**
     * Makes an attempt. Returning normally is success.
     *
     * @param key the key to try
     * @param attempt the number of this attempt; the first is 1
     * @throws Exception if the attempt failed
     */
    void run(K key, int attempt) throws Exception;
  }

  /**
   * One asynchronous attempt.
   *
   * @param <K> the type of the keys
   */
  @FunctionalInterface
  public interface AsyncAttempt<K> {
    /**
     * Begins an attempt.
     *
     * @param key the key to try
     * @param attempt the number of this attempt; the first is 1
     * @return the outcome of the attempt
     * @throws Exception if the attempt failed at once
     */
    CompletionStage<?> begin(K key, int attempt) throws Exception;
  }

  private static final CompletionStage<?> DONE = CompletableFuture.completedStage(null);

  final Timer timer;
  final TimeSource clock;
  final Executor executor;
  final AsyncAttempt<? super K> attempt;
  final long attemptLimitNanos;
  private final Backoff backoff;
  private final int maxAttempts;
  private final long limitNanos;
  private final Predicate<? super Throwable> abortOn;
  private final @Nullable Consumer<? super K> onSuccess;
  private final BiConsumer<? super K, ? super Throwable> onExhausted;
  private final Errors errors;
  private final ConcurrentHashMap<K, Retry<K>> retries = new ConcurrentHashMap<>();
  private volatile boolean closed;

  private Retries(Builder<K> settings) {
    timer = settings.timer;
    clock = timer.timeSource();
    executor = settings.executor;
    attempt = settings.attempt;
    attemptLimitNanos = settings.attemptLimitNanos;
    backoff = settings.backoff;
    maxAttempts = settings.maxAttempts;
    limitNanos = settings.limitNanos;
    abortOn = settings.abortOn;
    onSuccess = settings.onSuccess;
    onExhausted = settings.onExhausted;
    errors = new Errors(Retries.class, settings.onError);
  }

  /**
   * Returns a builder of retries whose attempts end when they return or throw.
   *
   * @param timer the timer for the delays
   * @param executor runs the attempts
   * @param attempt makes an attempt
   * @return a builder
   * @param <K> the type of the keys
   */
  public static <K> Builder<K> builder(Timer timer, Executor executor, Attempt<? super K> attempt) {
    requireNonNull(attempt, "attempt");
    return new Builder<>(
        timer,
        executor,
        (key, number) -> {
          attempt.run(key, number);
          return DONE;
        });
  }

  /**
   * Returns a builder of retries whose attempts end with the stage that they return.
   *
   * @param timer the timer for the delays
   * @param executor begins the attempts
   * @param attempt begins an attempt
   * @return a builder
   * @param <K> the type of the keys
   */
  public static <K> Builder<K> asyncBuilder(
      Timer timer, Executor executor, AsyncAttempt<? super K> attempt) {
    return new Builder<>(timer, executor, requireNonNull(attempt, "attempt"));
  }

  /**
   * Starts retrying a key, unless it is already being retried.
   *
   * @param key the key to try
   * @return true if the key was not being retried; its first attempt follows after the first delay
   * @throws IllegalStateException if this object or its timer is stopped
   * @throws java.util.concurrent.RejectedExecutionException if the timer is at its limit
   */
  public boolean add(K key) {
    return add(key, limitNanos);
  }

  /**
   * Starts retrying a key until a deadline, unless the key is already being retried. The time limit
   * of all keys applies if it is earlier.
   *
   * @param key the key to try
   * @param deadline the latest time at which an attempt may be due
   * @return true if the key was not being retried; its first attempt follows after the first delay
   * @throws IllegalStateException if this object or its timer is stopped
   * @throws java.util.concurrent.RejectedExecutionException if the timer is at its limit
   */
  public boolean add(K key, Deadline deadline) {
    long untilNanos = requireNonNull(deadline, "deadline").remaining(TimeUnit.NANOSECONDS);
    return add(key, Math.min(limitNanos, Math.max(0, untilNanos)));
  }

  private boolean add(K key, long keyLimitNanos) {
    Retry<K> retry = new Retry<>(this, requireNonNull(key, "key"), clock.nanoTime(), keyLimitNanos);
    if (retries.containsKey(key)) {
      return false;
    }
    if (closed) {
      throw new IllegalStateException("the retries are closed");
    }
    long delayNanos = 0;
    Throwable end = null;
    try {
      delayNanos = Checks.timeoutNanos(backoff.delay(1));
      if (retry.isTooLate(delayNanos)) {
        end = new TimeoutException("the first attempt would be after the time limit");
      }
    } catch (Throwable e) {
      end = e;
    }
    if (end == null) {
      retry.start(delayNanos); // before adding, so no other thread relies on a refused key
    }
    if (retries.putIfAbsent(key, retry) != null) {
      retry.settle();
      return false;
    }
    if (closed && take(retry)) { // after adding: otherwise, a close may miss it
      throw new IllegalStateException("the retries are closed");
    }
    if (end != null) {
      exhausted(retry, end);
    } else if (timer.isStopped() && take(retry)) { // otherwise, the stop may have missed it
      throw new IllegalStateException("the timer is stopped");
    }
    return true;
  }

  /**
   * Stops retrying a key.
   *
   * @param key the key
   * @return whether it was waiting or being tried
   */
  public boolean cancel(K key) {
    Retry<K> retry = retries.remove(requireNonNull(key, "key"));
    if (retry != null) {
      retry.settle();
    }
    return retry != null;
  }

  /**
   * Stops retrying all keys.
   *
   * @return the keys that were waiting or being tried
   */
  public List<K> cancelAll() {
    List<K> cancelled = new ArrayList<>();
    for (Retry<K> retry : retries.values()) {
      if (take(retry)) {
        cancelled.add(retry.key);
      }
    }
    return cancelled;
  }

  /** {@return the number of keys that wait or are being tried} */
  public long size() {
    return retries.mappingCount();
  }

  /** Refuses keys from now on, and cancels all present keys. */
  @Override
  public void close() {
    closed = true;
    cancelAll();
  }

  boolean isTrying(Retry<K> retry) {
    return retries.get(retry.key) == retry;
  }

  /**
   * Removes a retry from the map. Returns whether this call removed it: the thread that succeeds
   * decides the outcome.
   */
  boolean take(Retry<K> retry) {
    if (!retries.remove(retry.key, retry)) {
      return false;
    }
    retry.settle();
    return true;
  }

  void succeeded(Retry<K> retry) {
    Consumer<? super K> callback = onSuccess;
    if (take(retry) && callback != null) {
      errors.runOn(executor, retry.key, () -> callback.accept(retry.key));
    }
  }

  /** Handles a rejection of an attempt before it began: offers it again, if there is time. */
  void rejected(Retry<K> retry, Throwable error) {
    errors.handle(retry.key, error);
    if (retry.isOver() || timer.isStopped()) {
      exhausted(retry, error);
    }
  }

  /** Handles a failed attempt: begins the wait for the next one, or exhausts the key. */
  void failed(Retry<K> retry, Throwable error) {
    if (retry.isSettled()) {
      return;
    }
    Throwable end = error;
    try {
      int ended = retry.attempt();
      if (!abortOn.test(error) && ended < maxAttempts) {
        long delayNanos = Checks.timeoutNanos(backoff.delay(ended + 1));
        if (!retry.isTooLate(delayNanos)) {
          retry.next(delayNanos);
          if (!timer.isStopped()) {
            return;
          }
        }
      }
    } catch (Throwable e) {
      if (end != e) {
        e.addSuppressed(end);
      }
      end = e;
    }
    exhausted(retry, end);
  }

  private void exhausted(Retry<K> retry, Throwable error) {
    if (take(retry)) {
      errors.runOn(executor, retry.key, () -> onExhausted.accept(retry.key, error));
    }
  }

  /**
   * The settings of {@link Retries}. Not thread-safe.
   *
   * @param <K> the type of the keys
   */
  public static final class Builder<K> {
    private final Timer timer;
    private final Executor executor;
    private final AsyncAttempt<? super K> attempt;
    private Backoff backoff = Backoff.fixed(Duration.ofSeconds(1));
    private int maxAttempts = Integer.MAX_VALUE;
    private long limitNanos = Long.MAX_VALUE;
    private long attemptLimitNanos = Long.MAX_VALUE;
    private Predicate<? super Throwable> abortOn = error -> false;
    private @Nullable Consumer<? super K> onSuccess;
    private BiConsumer<? super K, ? super Throwable> onExhausted = (key, error) -> {};
    private PatternErrorHandler onError = Errors::log;

    private Builder(Timer timer, Executor executor, AsyncAttempt<? super K> attempt) {
      this.timer = requireNonNull(timer, "timer");
      this.executor = requireNonNull(executor, "executor");
      this.attempt = attempt;
    }

    /**
     * Sets the delays before the attempts. The default is one second each.
     *
     * @param backoff supplies the delays
     * @return this builder
     */
    public Builder<K> backoff(Backoff backoff) {
      this.backoff = requireNonNull(backoff, "backoff");
      return this;
    }

    /**
     * Sets the maximum number of attempts for a key. By default, it is unlimited.
     *
     * @param maxAttempts the number of attempts, more than 0
     * @return this builder
     */
    public Builder<K> maxAttempts(int maxAttempts) {
      this.maxAttempts = Checks.positive("maxAttempts", maxAttempts);
      return this;
    }

    /**
     * Sets the maximum time for which a key is retried. No attempt is due later than this after
     * {@link Retries#add}. An attempt in progress is not interrupted. By default, there is no
     * limit.
     *
     * @param limit the time, more than zero
     * @return this builder
     */
    public Builder<K> timeLimit(Duration limit) {
      limitNanos = Checks.positiveNanos("limit", limit);
      return this;
    }

    /**
     * Sets how long one attempt may take. After that, it fails with a {@link TimeoutException}. By
     * default, there is no limit.
     *
     * @param limit the time from the beginning of the attempt, more than zero
     * @return this builder
     */
    public Builder<K> attemptTimeLimit(Duration limit) {
      attemptLimitNanos = Checks.positiveNanos("limit", limit);
      return this;
    }

    /**
     * Sets which failures are final, so that a key is exhausted at once. By default, none is.
     *
     * @param abortOn returns whether a failure of an attempt is final
     * @return this builder
     */
    public Builder<K> abortOn(Predicate<? super Throwable> abortOn) {
      this.abortOn = requireNonNull(abortOn, "abortOn");
      return this;
    }

    /**
     * Sets the callback for keys that succeeded. By default, there is none.
     *
     * @param onSuccess receives each key once, and may add it again
     * @return this builder
     */
    public Builder<K> onSuccess(Consumer<? super K> onSuccess) {
      this.onSuccess = requireNonNull(onSuccess, "onSuccess");
      return this;
    }

    /**
     * Sets the callback for exhausted keys, with their last error. By default, there is none.
     *
     * @param onExhausted receives each key once, and may add it again
     * @return this builder
     */
    public Builder<K> onExhausted(BiConsumer<? super K, ? super Throwable> onExhausted) {
      this.onExhausted = requireNonNull(onExhausted, "onExhausted");
      return this;
    }

    /**
     * Sets the handler of everything that the callbacks and the executor throw. By default, errors
     * are logged. It is not notified of errors of attempts.
     *
     * @param onError the handler
     * @return this builder
     */
    public Builder<K> onError(PatternErrorHandler onError) {
      this.onError = requireNonNull(onError, "onError");
      return this;
    }

    /** {@return new retries with these settings} */
    public Retries<K> build() {
      return new Retries<>(this);
    }
  }
}
