// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.util.Objects.requireNonNull;

import io.timewheel.Timer;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * The settings of {@link Leases}. Not thread-safe.
 *
 * @param <K> the type of the keys
 */
public final class LeasesBuilder<K> {
  final Timer timer;
  final Executor executor;
  final long leaseNanos;
  final Leases.AsyncRenewal<K> renewal;
  int maxBatch = 1_000;
  Consumer<? super K> onLost = key -> {};
  Consumer<? super Throwable> onError = Errors::log;

  LeasesBuilder(Timer timer, Executor executor, Duration lease, Leases.AsyncRenewal<K> renewal) {
    this.timer = requireNonNull(timer, "timer");
    this.executor = requireNonNull(executor, "executor");
    this.leaseNanos = Checks.positiveNanos("lease", lease);
    this.renewal = renewal;
  }

  /**
   * Sets how many leases are renewed in one call at most: 1,000 unless set.
   *
   * @param maxBatch how many
   * @return this builder
   */
  public LeasesBuilder<K> maxBatch(int maxBatch) {
    this.maxBatch = Checks.positive("maxBatch", maxBatch);
    return this;
  }

  /**
   * Sets who is told of leases that were lost while they were held.
   *
   * @param onLost is told of each once
   * @return this builder
   */
  public LeasesBuilder<K> onLost(Consumer<? super K> onLost) {
    this.onLost = requireNonNull(onLost, "onLost");
    return this;
  }

  /**
   * Sets who is told of what renewals, callbacks and the executor throw: by default a log.
   *
   * @param onError is told
   * @return this builder
   */
  public LeasesBuilder<K> onError(Consumer<? super Throwable> onError) {
    this.onError = requireNonNull(onError, "onError");
    return this;
  }

  /** {@return new leases with these settings} */
  public Leases<K> build() {
    return new Leases<>(this);
  }
}
