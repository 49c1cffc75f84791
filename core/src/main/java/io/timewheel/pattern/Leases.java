// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.util.Objects.requireNonNull;

import io.timewheel.TimeSource;
import io.timewheel.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;

/**
 * Renews leases while they are held, like the watchdog of a distributed lock. It replaces a renewal
 * timer for each lock.
 *
 * <pre>{@code
 * Leases<String> leases =
 *     Leases.builder(timer, executor, ofSeconds(30), (List<String> locks) -> server.renew(locks))
 *         .onLost((lock, how) -> log.error("lost " + lock + ": " + how))
 *         .build();
 *
 * server.lock("orders", ofSeconds(30));
 * leases.hold("orders");
 * try {
 *   ...
 * } finally {
 *   leases.release("orders", () -> server.unlock("orders"));
 * }
 * }</pre>
 *
 * <h2>Guarantees</h2>
 *
 * <ul>
 *   <li>A held lease is renewed when at most a third of its time has passed. One call renews all
 *       leases that are due by the next sweep. A sweep runs every twelfth of the lease time while
 *       any lease is held. One timeout serves all leases, from the time this object is built until
 *       it is closed. So the timer's limit can refuse this object, but never a lease.
 *   <li>Once {@link #release} returns, no further renewal of the lease begins. A call that includes
 *       the lease may still be in progress. The action passed to {@code release} runs after that
 *       call has ended, so no renewal of the lease arrives after the unlock. Do not acquire the key
 *       again before the future of the release completes, when the action has run. Otherwise, the
 *       action would undo the new lock: it waits only for renewals of the released lease.
 *   <li>A call that fails has renewed nothing, and is retried at the next sweep, until the lease
 *       expires. A call that hangs delays the renewal of its leases and the actions of their
 *       releases. A blocking call also occupies a thread of the executor; a stage that never
 *       completes does not.
 *   <li>A lease is lost if a call does not return it among the renewed leases, or if it expires.
 *       {@code onLost} is notified once, unless the lease was released before. The time counts from
 *       the moment before the last successful call, so it ends no later than at the server. Until
 *       the first renewal, it counts from {@link #hold}, so call that without delay. An expired
 *       lease is detected at that tick, if the executor has a free thread.
 *   <li>Holds are counted: a lease that is held twice must be released twice. The count restarts
 *       after a loss.
 *   <li>Calls begin on the executor. If it rejects a sweep, the next sweep does the work. Each
 *       {@code onLost}, and each action that had to wait, is a separate task on the executor. A
 *       slow task delays neither renewals nor other such tasks if there are threads for them. A
 *       task that the executor rejects runs on the thread that offered it.
 *   <li>If the timer is stopped, leases are no longer renewed, and {@code onLost} is not notified.
 * </ul>
 *
 * <p>A lease takes 72 bytes plus its key, including the map's node.
 *
 * @param <K> the type of the keys
 */
public final class Leases<K> implements AutoCloseable {
  /** The reason why a lease was lost. */
  public enum Loss {
    /** The server did not renew the lease. */
    REFUSED,
    /** The lease expired before a renewal succeeded. */
    OVER
  }

  /**
   * Renews leases.
   *
   * @param <K> the type of the keys
   */
  @FunctionalInterface
  public interface Renewal<K> {
    /**
     * Renews leases in one call.
     *
     * @param keys the keys of the leases
     * @return the keys of the renewed leases; the others are lost
     * @throws Exception if the outcome is unknown; then all are retried
     */
    Collection<K> renew(List<K> keys) throws Exception;
  }

  /**
   * Renews leases asynchronously.
   *
   * @param <K> the type of the keys
   */
  @FunctionalInterface
  public interface AsyncRenewal<K> {
    /**
     * Begins to renew leases in one call.
     *
     * @param keys the keys of the leases
     * @return the keys of the renewed leases; the others are lost. If the stage fails, all are
     *     retried
     * @throws Exception if the call failed at once; then all are retried
     */
    CompletionStage<? extends Collection<K>> begin(List<K> keys) throws Exception;
  }

  /**
   * Renews one lease.
   *
   * @param <K> the type of the keys
   */
  @FunctionalInterface
  public interface KeyRenewal<K> {
    /**
     * Begins to renew a lease.
     *
     * @param key the key
     * @return whether the lease was renewed; if not, it is lost. If the stage fails, the lease is
     *     retried
     * @throws Exception if the call failed at once; then the lease is retried
     */
    CompletionStage<Boolean> begin(K key) throws Exception;
  }

  final TimeSource clock;
  private final long leaseNanos;
  private final long sweepNanos;
  private final int maxBatch;
  final AsyncRenewal<K> renewal;
  private final BiConsumer<? super K, ? super Loss> onLost;
  private final Executor executor;
  final Errors errors;
  private final ConcurrentHashMap<K, Lease<K>> leases = new ConcurrentHashMap<>();
  private final Sweep sweep;
  private volatile boolean closed;

  private Leases(Builder<K> settings) {
    clock = settings.timer.timeSource();
    leaseNanos = settings.leaseNanos;
    sweepNanos = Math.max(1, leaseNanos / 12);
    maxBatch = settings.maxBatch;
    renewal = settings.renewal;
    onLost = settings.onLost;
    executor = settings.executor;
    errors = new Errors(Leases.class, settings.onError);
    sweep =
        new Sweep(
            settings.timer, sweepNanos, executor, errors, leases::isEmpty, this::renewDueLeases);
  }

  /**
   * Returns a builder of leases that are renewed when the call returns. The calls of a sweep are
   * made one after the other.
   *
   * @param timer the timer for the sweeps
   * @param executor makes the calls
   * @param lease the time of a lease, more than zero
   * @param renewal renews leases
   * @return a builder
   * @param <K> the type of the keys
   */
  public static <K> Builder<K> builder(
      Timer timer, Executor executor, Duration lease, Renewal<K> renewal) {
    requireNonNull(renewal, "renewal");
    return new Builder<>(
        timer, executor, lease, keys -> CompletableFuture.completedStage(renewal.renew(keys)));
  }

  /**
   * Returns a builder of leases that are renewed when the stage that the call returns completes.
   * The calls of a sweep do not wait for each other.
   *
   * @param timer the timer for the sweeps
   * @param executor begins the calls
   * @param lease the time of a lease, more than zero
   * @param renewal renews leases
   * @return a builder
   * @param <K> the type of the keys
   */
  public static <K> Builder<K> asyncBuilder(
      Timer timer, Executor executor, Duration lease, AsyncRenewal<K> renewal) {
    return new Builder<>(timer, executor, lease, requireNonNull(renewal, "renewal"));
  }

  /**
   * Returns a builder of leases with a separate renewal call for each. So a call that is slow or
   * fails affects no other lease.
   *
   * @param timer the timer for the sweeps
   * @param executor begins the calls
   * @param lease the time of a lease, more than zero
   * @param renewal renews one lease
   * @return a builder; its {@link Builder#maxBatch} stays 1
   * @param <K> the type of the keys
   */
  public static <K> Builder<K> perKeyBuilder(
      Timer timer, Executor executor, Duration lease, KeyRenewal<K> renewal) {
    requireNonNull(renewal, "renewal");
    Builder<K> builder =
        new Builder<>(
            timer,
            executor,
            lease,
            keys -> renewal.begin(keys.get(0)).thenApply(renewed -> renewed ? keys : List.<K>of()));
    builder.maxBatch = 1;
    builder.perKey = true;
    return builder;
  }

  /**
   * Holds a lease. If it was not held before, acquire it just before this call.
   *
   * @param key the key
   * @return the number of holds of the lease, including this one; 1 for the first hold
   * @throws IllegalStateException if this object or its timer is stopped
   */
  public int hold(K key) {
    requireNonNull(key, "key");
    int holds = 0;
    while (holds == 0) {
      Lease<K> lease = leases.computeIfAbsent(key, k -> new Lease<>(k, clock.nanoTime()));
      holds = lease.hold();
      if (holds == 0) {
        leases.remove(key, lease); // the lease has ended, and is not removed yet
      }
    }
    boolean willBeRenewed = sweep.wake();
    if (closed || !willBeRenewed) { // after adding: otherwise, a close may miss the lease
      release(key);
      throw new IllegalStateException(closed ? "the leases are closed" : "the timer is stopped");
    }
    return holds;
  }

  /**
   * Releases a hold. After the last release, the lease is no longer renewed.
   *
   * <p>A renewal of the lease may still be in progress. Do not unlock when this returns: the
   * renewal may arrive at the server after the unlock. Pass the unlock to {@link #release(Object,
   * Runnable)}.
   *
   * @param key the key
   * @return whether it was the last hold; false if the lease was lost, or never held
   */
  public boolean release(K key) {
    Lease<K> lease = leases.get(requireNonNull(key, "key"));
    return lease != null && release(lease, () -> {}) != Lease.Release.NOT_THE_LAST;
  }

  /**
   * Releases a hold. If it was the last, runs the unlock action as soon as no renewal of the lease
   * is in progress. It usually runs at once, on the calling thread. Otherwise, it runs on the
   * executor when the renewal has ended. Do not acquire and hold the key again before the action
   * has run; see the description of this class.
   *
   * @param key the key
   * @param unlock the action to run when no renewal of the lease is in progress
   * @return a future that completes with true when the action has run. It completes with false at
   *     once if the hold was not the last, or if the lease was lost or never held. It fails if the
   *     action threw; the handler is notified too
   */
  public CompletableFuture<Boolean> release(K key, Runnable unlock) {
    requireNonNull(unlock, "unlock");
    Lease<K> lease = leases.get(requireNonNull(key, "key"));
    CompletableFuture<Boolean> unlocked = new CompletableFuture<>();
    Runnable action = () -> unlock(unlock, unlocked);
    Lease.Release release = lease == null ? Lease.Release.NOT_THE_LAST : release(lease, action);
    switch (release) {
      case NOT_THE_LAST -> unlocked.complete(false);
      case NOW -> errors.run(key, action);
      case LATER -> {}
    }
    return unlocked;
  }

  private Lease.Release release(Lease<K> lease, Runnable action) {
    Lease.Release release = lease.release(action);
    if (release != Lease.Release.NOT_THE_LAST) {
      leases.remove(lease.key, lease);
    }
    return release;
  }

  private static void unlock(Runnable unlock, CompletableFuture<Boolean> unlocked) {
    try {
      unlock.run();
    } catch (Throwable e) {
      unlocked.completeExceptionally(e);
      throw e; // to the handler
    }
    unlocked.complete(true);
  }

  /**
   * Returns how often a lease is held.
   *
   * @param key the key
   * @return the number of holds; 0 if the lease is not held, or was lost
   */
  public int holds(K key) {
    Lease<K> lease = leases.get(requireNonNull(key, "key"));
    return lease == null ? 0 : lease.holds();
  }

  /** {@return how many leases are held} */
  public long size() {
    return leases.mappingCount();
  }

  /**
   * Closes this object: starts no more renewal calls, and refuses new leases. Held leases can still
   * be released. {@code onLost} is no longer notified.
   */
  @Override
  public void close() {
    closed = true;
    sweep.settle();
  }

  /** Renews the due leases. Runs on the executor. */
  private void renewDueLeases() {
    if (closed) {
      return;
    }
    long nowNanos = clock.nanoTime();
    long oldestNanos = 0;
    List<Lease<K>> lost = new ArrayList<>();
    List<Lease<K>> due = new ArrayList<>();
    for (Lease<K> lease : leases.values()) {
      long ageNanos = nowNanos - lease.renewedNanos();
      if (ageNanos < leaseNanos) {
        oldestNanos = Math.max(oldestNanos, ageNanos);
        if (ageNanos >= leaseNanos / 3 - sweepNanos) {
          due.add(lease);
        }
      } else if (lose(lease)) {
        lost.add(lease);
      }
    }
    if (oldestNanos > 0) {
      long scanNanos = clock.nanoTime() - nowNanos;
      sweep.hasten(leaseNanos - oldestNanos - scanNanos);
    }
    // Renewal calls do not wait for these notifications. The notifications do not wait for a call
    // that hangs.
    lost.forEach(lease -> tell(lease, Loss.OVER));
    for (int from = 0; from < due.size() && !closed; from += maxBatch) {
      new RenewalCall<>(this, due.subList(from, Math.min(due.size(), from + maxBatch))).begin();
    }
  }

  /**
   * Ends a lease that was lost. Returns whether this call ended it. If so, the caller must notify
   * {@code onLost}.
   */
  boolean lose(Lease<K> lease) {
    boolean lost = !closed && lease.end();
    if (lost) {
      leases.remove(lease.key, lease);
    }
    return lost;
  }

  void tell(Lease<K> lease, Loss loss) {
    handOver(
        lease.key,
        () -> {
          if (!closed) {
            onLost.accept(lease.key, loss);
          }
        });
  }

  void handOver(K key, Runnable userCode) {
    errors.runOn(executor, key, userCode);
  }

  /**
   * The settings of {@link Leases}. Not thread-safe.
   *
   * @param <K> the type of the keys
   */
  public static final class Builder<K> {
    private final Timer timer;
    private final Executor executor;
    private final long leaseNanos;
    private final AsyncRenewal<K> renewal;
    private boolean perKey;
    private int maxBatch = 1_000;
    private BiConsumer<? super K, ? super Loss> onLost = (key, loss) -> {};
    private PatternErrorHandler onError = Errors::log;

    private Builder(Timer timer, Executor executor, Duration lease, AsyncRenewal<K> renewal) {
      this.timer = requireNonNull(timer, "timer");
      this.executor = requireNonNull(executor, "executor");
      this.leaseNanos = Checks.positiveNanos("lease", lease);
      this.renewal = renewal;
    }

    /**
     * Sets the maximum number of leases renewed in one call. The default is 1,000.
     *
     * @param maxBatch the number of leases, more than 0
     * @return this builder
     * @throws IllegalStateException if each lease has its own renewal call
     */
    public Builder<K> maxBatch(int maxBatch) {
      if (perKey) {
        throw new IllegalStateException("maxBatch is 1 if each lease has its own renewal call");
      }
      this.maxBatch = Checks.positive("maxBatch", maxBatch);
      return this;
    }

    /**
     * Sets the callback for leases that were lost while they were held. By default, there is none.
     *
     * @param onLost receives each lost key once, and the reason
     * @return this builder
     */
    public Builder<K> onLost(BiConsumer<? super K, ? super Loss> onLost) {
      this.onLost = requireNonNull(onLost, "onLost");
      return this;
    }

    /**
     * Sets the handler of everything that renewals, callbacks and the executor throw. By default,
     * errors are logged. If a renewal of several leases fails, the key is the list of their keys.
     *
     * @param onError the handler
     * @return this builder
     */
    public Builder<K> onError(PatternErrorHandler onError) {
      this.onError = requireNonNull(onError, "onError");
      return this;
    }

    /**
     * Makes leases with these settings.
     *
     * @return new leases
     * @throws IllegalStateException if the timer is stopped
     * @throws java.util.concurrent.RejectedExecutionException if the timer is at its limit
     */
    public Leases<K> build() {
      return new Leases<>(this);
    }
  }
}
