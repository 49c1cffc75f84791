// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.util.Objects.requireNonNull;

import io.timewheel.Timer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The settings of {@link Expirations}. Not thread-safe.
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
public final class ExpirationsBuilder<K, V> {
  final Timer timer;
  final int maxBatch;
  final Consumer<? super List<Map.Entry<K, V>>> listener;
  @Nullable Consumer<? super List<Map.Entry<K, V>>> overflow;
  @Nullable Executor executor;
  int capacity = 65_536;
  boolean blocks;
  Consumer<? super Throwable> onError = Errors::log;

  ExpirationsBuilder(Timer timer, int maxBatch, Consumer<? super List<Map.Entry<K, V>>> listener) {
    this.timer = requireNonNull(timer, "timer");
    this.maxBatch = Checks.positive("maxBatch", maxBatch);
    this.listener = listener;
  }

  /**
   * Sets who runs the listener: by default a daemon thread of its own.
   *
   * @param executor runs the listener, a batch at a time
   * @return this builder
   */
  public ExpirationsBuilder<K, V> executor(Executor executor) {
    this.executor = requireNonNull(executor, "executor");
    return this;
  }

  /**
   * Sets how many expired entries may wait for the listener: 65,536 unless set.
   *
   * @param capacity how many
   * @return this builder
   */
  public ExpirationsBuilder<K, V> capacity(int capacity) {
    this.capacity = Checks.positive("capacity", capacity);
    return this;
  }

  /**
   * Sets who is given the expired entries that the queue has no place for, and those that the
   * executor rejects; it is called by the timer's thread. By default that is the listener.
   *
   * @param onOverflow is given what does not fit
   * @return this builder
   */
  public ExpirationsBuilder<K, V> onOverflow(Consumer<? super List<Map.Entry<K, V>>> onOverflow) {
    overflow = requireNonNull(onOverflow, "onOverflow");
    return this;
  }

  /**
   * Has the timer's thread wait when the queue is full, until the listener has made room. It is
   * then late for everything, so that this is for timers that do nothing else. The executor must
   * run what it takes, and on other threads than that which waits, or that waits for ever. An
   * interrupt, as of a timer that is stopped and has lost its patience, ends the wait: the entry
   * then goes to the overflow listener, which unless set is the listener itself, beside its run on
   * the executor. So does a former value that {@link Expirations#replace} lets expire when the
   * queue is full: no other thread than the timer's waits.
   *
   * @return this builder
   */
  public ExpirationsBuilder<K, V> blockOnOverflow() {
    blocks = true;
    return this;
  }

  /**
   * Sets who is told of what listeners and executor throw: by default a log.
   *
   * @param onError is told
   * @return this builder
   */
  public ExpirationsBuilder<K, V> onError(Consumer<? super Throwable> onError) {
    this.onError = requireNonNull(onError, "onError");
    return this;
  }

  /** {@return new expirations with these settings} */
  public Expirations<K, V> build() {
    return new Expirations<>(this);
  }
}
