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
 * Things that failed and are tried again until they succeed: registrations, deliveries, reconnects.
 * It replaces timer tasks that reschedule themselves.
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
 * registrations.add(url);    // it has failed just now: the first attempt is after the first delay
 * registrations.cancel(url); // not wanted any more
 * }</pre>
 *
 * <h2>What is promised</h2>
 *
 * <ul>
 *   <li>A key is tried once at a time: the wait for the next attempt begins when the last has
 *       ended. A key that is added again while it is being tried is not tried twice.
 *   <li>A key ends in one of three ways, and can then be added again: an attempt succeeds, and
 *       {@code onSuccess} is notified, once; {@link #cancel} or {@link #cancelAll} returns it; or
 *       it is exhausted, and {@code onExhausted} is notified, once. It is exhausted by its last
 *       attempt, by a failure that {@code abortOn} accepts, if the next attempt would begin after
 *       its time limit, or if the backoff throws.
 *   <li>Attempts run on the executor, and on the timer thread only if that is where the executor
 *       runs its tasks, as {@code Runnable::run} does. One that the executor rejects, or takes and
 *       does not begin, does not count: it is offered again after one second, two, four, and so on
 *       up to a minute, and the handler is notified of each rejection. {@code onSuccess} and {@code
 *       onExhausted} run on the executor too, and on the thread that found the end only if the
 *       executor rejects them.
 *   <li>An attempt that exceeds its time limit has failed with a {@link TimeoutException}. The
 *       timer ends it on the executor. If the executor has no thread free, the end comes when it
 *       has one, or when the attempt returns or throws, and is a timeout all the same. Cancelling
 *       and time limits interrupt nothing: an attempt that has begun continues, and its outcome is
 *       ignored. The key may be tried again alongside it.
 *   <li>A key takes one place in the timer from beginning to end, even while it is tried; the
 *       timer's limit can refuse it only when it is added. If the timer is stopped, keys that wait
 *       are forgotten, and one whose attempt then fails is exhausted.
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
     * Tries; returning is success.
     *
     * @param key what to try
     * @param attempt the number of this attempt; the first is 1
     * @throws Exception if it failed
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
     * Begins to try.
     *
     * @param key what to try
     * @param attempt the number of this attempt; the first is 1
     * @return its outcome
     * @throws Exception if it failed at once
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
   * A builder of retries whose attempts end when they return or throw.
   *
   * @param timer where the timeouts are pending
   * @param executor runs the attempts
   * @param attempt what to try
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
   * A builder of retries whose attempts end with the stage that they return.
   *
   * @param timer where the timeouts are pending
   * @param executor begins the attempts
   * @param attempt what to try
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
   * @param key what to try
   * @return true if it was not being tried; its first attempt follows after the first delay
   * @throws IllegalStateException if this object or its timer is stopped
   * @throws java.util.concurrent.RejectedExecutionException if the timer is at its limit
   */
  public boolean add(K key) {
    return add(key, limitNanos);
  }

  /**
   * Starts retrying a key until a deadline, or until the time limit of all keys if that is earlier,
   * unless it is already being retried.
   *
   * @param key what to try
   * @param deadline no attempt is due later than this
   * @return true if it was not being tried; its first attempt follows after the first delay
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
      retry.start(delayNanos); // before it is in the map, so no other thread relies on one refused
    }
    if (retries.putIfAbsent(key, retry) != null) {
      retry.settle();
      return false;
    }
    if (closed && take(retry)) { // after adding: otherwise closing may miss it
      throw new IllegalStateException("the retries are closed");
    }
    if (end != null) {
      exhausted(retry, end);
    } else if (timer.isStopped() && take(retry)) { // otherwise the stop may have missed it
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

  /** {@return how many keys wait or are being tried} */
  public long size() {
    return retries.mappingCount();
  }

  /** Refuses keys from now on, and cancels all that there are. */
  @Override
  public void close() {
    closed = true;
    cancelAll();
  }

  boolean isTrying(Retry<K> retry) {
    return retries.get(retry.key) == retry;
  }

  /** The thread that takes a retry out of the map decides its end. */
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

  /**
   * The executor has rejected the attempt before it began: it is offered again, if there is time.
   */
  void rejected(Retry<K> retry, Throwable error) {
    errors.handle(retry.key, error);
    if (retry.isOver() || timer.isStopped()) {
      exhausted(retry, error);
    }
  }

  /** The attempt has failed: begins the wait for another, or ends the key. */
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
     * Sets how long to wait before each attempt: by default one second.
     *
     * @param backoff gives the delays
     * @return this builder
     */
    public Builder<K> backoff(Backoff backoff) {
      this.backoff = requireNonNull(backoff, "backoff");
      return this;
    }

    /**
     * Sets the maximum number of attempts for a key: by default unlimited.
     *
     * @param maxAttempts how often, more than 0
     * @return this builder
     */
    public Builder<K> maxAttempts(int maxAttempts) {
      this.maxAttempts = Checks.positive("maxAttempts", maxAttempts);
      return this;
    }

    /**
     * Sets how long a key is tried at most: no attempt is due later than this after {@link
     * Retries#add}. An attempt in progress is not cut short.
     *
     * @param limit how long, more than zero
     * @return this builder
     */
    public Builder<K> timeLimit(Duration limit) {
      limitNanos = Checks.positiveNanos("limit", limit);
      return this;
    }

    /**
     * Sets how long one attempt may take: after that it fails with a {@link TimeoutException}. By
     * default it may take for ever.
     *
     * @param limit how long, more than zero, from the beginning of the attempt
     * @return this builder
     */
    public Builder<K> attemptTimeLimit(Duration limit) {
      attemptLimitNanos = Checks.positiveNanos("limit", limit);
      return this;
    }

    /**
     * Sets which failures are final, so that a key is exhausted at once: by default none.
     *
     * @param abortOn is asked about the failure of each attempt
     * @return this builder
     */
    public Builder<K> abortOn(Predicate<? super Throwable> abortOn) {
      this.abortOn = requireNonNull(abortOn, "abortOn");
      return this;
    }

    /**
     * Sets the callback for keys that succeeded.
     *
     * @param onSuccess receives each once, and may add it again
     * @return this builder
     */
    public Builder<K> onSuccess(Consumer<? super K> onSuccess) {
      this.onSuccess = requireNonNull(onSuccess, "onSuccess");
      return this;
    }

    /**
     * Sets the callback for keys that are given up, with their last error. Without one they are
     * given up in silence.
     *
     * @param onExhausted receives each once, and may add it again
     * @return this builder
     */
    public Builder<K> onExhausted(BiConsumer<? super K, ? super Throwable> onExhausted) {
      this.onExhausted = requireNonNull(onExhausted, "onExhausted");
      return this;
    }

    /**
     * Sets the handler of what the callbacks and the executor throw: by default a log. It is not
     * notified of what attempts throw.
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
