// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.util.Objects.requireNonNull;

import io.timewheel.Timer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Things that failed and are to be tried again until they succeed: registrations, deliveries,
 * reconnects. It replaces timer tasks that put themselves back into the timer.
 *
 * <pre>{@code
 * Retries<Url> registrations =
 *     Retries.builder(timer, executor, (Url url) -> registry.register(url)) // throws if it fails
 *         .backoff(Backoff.exponential(ofMillis(500), ofSeconds(30)).withFullJitter())
 *         .maxAttempts(20)
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
 *   <li>A key is tried once at a time: the next attempt is scheduled when the last has ended. A key
 *       that is added again while it is being tried is not tried twice.
 *   <li>A key ends in one of three ways, and is free again then: an attempt succeeds; {@link
 *       #cancel} or {@link #cancelAll} returns it; or it is exhausted, and {@code onExhausted} is
 *       told, once, after the key was freed. It is exhausted by its last attempt, or if the next
 *       would begin after its deadline, or if the backoff throws or the timer refuses the delay.
 *   <li>Attempts run on the executor, never on the timer's thread. One that the executor rejects
 *       has failed. {@code onExhausted} runs on the executor too, and on the thread that found the
 *       end only if the executor rejects it.
 *   <li>Cancelling interrupts nobody: an attempt that has begun goes on, and its outcome is
 *       ignored. A key that is added again meanwhile may be tried beside it.
 *   <li>If the timer is stopped, what waits is forgotten.
 * </ul>
 *
 * <p>A key takes 120 bytes beside itself, its timeout and the map's node included.
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
     * @throws Exception if it failed
     */
    void run(K key) throws Exception;
  }

  /**
   * One attempt that ends later.
   *
   * @param <K> the type of the keys
   */
  @FunctionalInterface
  public interface AsyncAttempt<K> {
    /**
     * Begins to try.
     *
     * @param key what to try
     * @return its outcome
     * @throws Exception if it failed at once
     */
    CompletionStage<?> begin(K key) throws Exception;
  }

  private static final CompletionStage<?> DONE = CompletableFuture.completedStage(null);

  private final Timer timer;
  private final Elapsed clock;
  final Executor executor;
  final AsyncAttempt<? super K> attempt;
  private final Backoff backoff;
  private final int maxAttempts;
  private final long deadlineNanos;
  private final BiConsumer<? super K, ? super Throwable> onExhausted;
  private final Errors errors;
  private final ConcurrentHashMap<K, Retry<K>> retries = new ConcurrentHashMap<>();
  private volatile boolean closed;

  Retries(RetriesBuilder<K> settings) {
    timer = settings.timer;
    clock = new Elapsed(timer);
    executor = settings.executor;
    attempt = settings.attempt;
    backoff = settings.backoff;
    maxAttempts = settings.maxAttempts;
    deadlineNanos = settings.deadlineNanos;
    onExhausted = settings.onExhausted;
    errors = new Errors(settings.onError);
  }

  /**
   * A builder of retries that have ended when the attempt returns or throws.
   *
   * @param timer the timer that they are to use
   * @param executor runs the attempts
   * @param attempt what to try
   * @return a builder
   * @param <K> the type of the keys
   */
  public static <K> RetriesBuilder<K> builder(
      Timer timer, Executor executor, Attempt<? super K> attempt) {
    requireNonNull(attempt, "attempt");
    return new RetriesBuilder<>(
        timer,
        executor,
        key -> {
          attempt.run(key);
          return DONE;
        });
  }

  /**
   * A builder of retries that have ended when the stage that the attempt returned has.
   *
   * @param timer the timer that they are to use
   * @param executor begins the attempts
   * @param attempt what to try
   * @return a builder
   * @param <K> the type of the keys
   */
  public static <K> RetriesBuilder<K> asyncBuilder(
      Timer timer, Executor executor, AsyncAttempt<? super K> attempt) {
    return new RetriesBuilder<>(timer, executor, requireNonNull(attempt, "attempt"));
  }

  /**
   * Has a key tried from now on, unless it is already.
   *
   * @param key what to try
   * @return true if it was not being tried; its first attempt follows after the first delay
   * @throws IllegalStateException if this object is closed
   */
  public boolean add(K key) {
    Retry<K> retry = new Retry<>(this, requireNonNull(key, "key"), clock.nanos());
    if (retries.putIfAbsent(key, retry) != null) {
      return false;
    }
    if (closed && retries.remove(key, retry)) { // after the adding: else closing may pass it by
      throw new IllegalStateException("the retries are closed");
    }
    schedule(retry, null);
    return true;
  }

  /**
   * Has a key not tried any more.
   *
   * @param key which
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
   * Has no key tried any more.
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

  /** Whoever takes a retry out of the map decides its end. */
  boolean take(Retry<K> retry) {
    if (!retries.remove(retry.key, retry)) {
      return false;
    }
    retry.settle();
    return true;
  }

  /** The last attempt, if there was one, has ended in an error. */
  void schedule(Retry<K> retry, @Nullable Throwable error) {
    if (retry.isSettled()) {
      return;
    }
    Throwable end = error;
    try {
      int ended = retry.attemptsEnded();
      if (ended < maxAttempts) {
        long delayNanos = Checks.timeoutNanos(backoff.delay(ended + 1));
        if (delayNanos <= deadlineNanos - (clock.nanos() - retry.addedNanos)) {
          retry.file(timer, delayNanos);
          return;
        }
      }
      if (end == null) {
        end = new TimeoutException("the first attempt would be after the deadline");
      }
    } catch (Throwable e) {
      if (end != null && end != e) {
        e.addSuppressed(end);
      }
      end = e;
    }
    if (take(retry)) {
      Throwable cause = end;
      errors.runOn(executor, () -> onExhausted.accept(retry.key, cause));
    }
  }
}
