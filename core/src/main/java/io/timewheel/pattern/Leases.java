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
 * Leases that are renewed while they are held: the watchdog of a distributed lock. It replaces a
 * renewal timer for each lock.
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
 * <h2>What is promised</h2>
 *
 * <ul>
 *   <li>A held lease is renewed when at most a third of its time has passed, in one call with all
 *       others that are due by the next sweep. A sweep comes every twelfth of the lease time while
 *       anything is held. One timeout serves all leases, from the time this object is built until
 *       it is closed; so the timer's limit can refuse this object, never a lease.
 *   <li>Once {@link #release} returns, no renewal of the lease begins any more. A call that
 *       includes it may still be under way; the action given to {@code release} runs after that has
 *       ended, so no renewal of that lease arrives after the unlock. Do not acquire the key again
 *       before the action has run, which completes the future of the release: the action would undo
 *       the new lock, and it waits only for the renewals of the released lease.
 *   <li>A call that fails has renewed nothing, and is retried at the next sweep, until the lease is
 *       over. A call that hangs holds up the leases in it, the actions of their release, and a
 *       thread of the executor unless it hangs in its stage.
 *   <li>A lease is lost when a call did not name it among those renewed, or when its time is over.
 *       {@code onLost} is notified once, unless it was released before. The time counts from the
 *       moment before the last successful call, so it ends no later than at the server; at first it
 *       counts from {@link #hold}, so call that without delay. A lease that is over is found at
 *       that tick, if the executor has a thread.
 *   <li>Holding is counted: what is held twice must be released twice. The count restarts after a
 *       loss.
 *   <li>Calls begin on the executor; a sweep that it rejects is left to the next one. Each {@code
 *       onLost}, and each action that had to wait, is a task of its own on the executor: a slow one
 *       delays neither renewals nor other such tasks, if there are threads for them. What the
 *       executor rejects runs on the thread that offered it.
 *   <li>If the timer is stopped, nothing is renewed any more, and {@code onLost} is not notified.
 * </ul>
 *
 * <p>A lease takes 72 bytes plus its key, including the map's node.
 *
 * @param <K> the type of the keys
 */
public final class Leases<K> implements AutoCloseable {
  /** How a lease was lost. */
  public enum Loss {
    /** The server did not renew it. */
    REFUSED,
    /** Its time was over before a renewal succeeded. */
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
     * @return those that were renewed; the others are lost
     * @throws Exception if it is not known which were renewed; then all are retried
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
     * @return those that were renewed; the others are lost. If it fails, all are retried
     * @throws Exception if it failed at once
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
     * @return whether it was renewed; if not, it is lost. If it fails, it is retried
     * @throws Exception if it failed at once
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
            settings.timer, sweepNanos, executor, errors, leases::isEmpty, this::renewWhatIsDue);
  }

  /**
   * A builder of leases that are renewed when the call returns. The calls of a sweep are made one
   * after the other.
   *
   * @param timer where the timeout is pending
   * @param executor makes the calls
   * @param lease the time of a lease
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
   * A builder of leases that are renewed when the stage that the call returns completes. The calls
   * of a sweep do not wait for each other.
   *
   * @param timer where the timeout is pending
   * @param executor begins the calls
   * @param lease the time of a lease
   * @param renewal renews leases
   * @return a builder
   * @param <K> the type of the keys
   */
  public static <K> Builder<K> asyncBuilder(
      Timer timer, Executor executor, Duration lease, AsyncRenewal<K> renewal) {
    return new Builder<>(timer, executor, lease, requireNonNull(renewal, "renewal"));
  }

  /**
   * A builder of leases with a renewal call each: none waits for another's answer, and none fails
   * with another.
   *
   * @param timer where the timeout is pending
   * @param executor begins the calls
   * @param lease the time of a lease
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
   * Holds a lease; if it was not held before, acquire it just before this call.
   *
   * @param key the key
   * @return how often it is held now: 1 if it was not before
   * @throws IllegalStateException if this object or its timer is stopped
   */
  public int hold(K key) {
    requireNonNull(key, "key");
    int holds = 0;
    while (holds == 0) {
      Lease<K> lease = leases.computeIfAbsent(key, k -> new Lease<>(k, clock.nanoTime()));
      holds = lease.hold();
      if (holds == 0) {
        leases.remove(key, lease); // it has ended, and is not removed yet
      }
    }
    boolean willBeRenewed = sweep.wake();
    if (closed || !willBeRenewed) { // after adding: otherwise closing may miss it
      release(key);
      throw new IllegalStateException(closed ? "the leases are closed" : "the timer is stopped");
    }
    return holds;
  }

  /**
   * Gives back a hold. Once the last is given back, the lease is no longer renewed.
   *
   * <p>A renewal of it may still be under way. So do not unlock when this returns, or the renewal
   * may arrive at the server after the unlock: give the unlock to {@link #release(Object,
   * Runnable)}.
   *
   * @param key the key
   * @return whether it was the last; also false if the lease was lost, or never held
   */
  public boolean release(K key) {
    Lease<K> lease = leases.get(requireNonNull(key, "key"));
    return lease != null && release(lease, () -> {}) != Lease.Release.NOT_THE_LAST;
  }

  /**
   * Gives back a hold and, if it was the last, runs an action, the unlock, as soon as no renewal of
   * the lease is under way: usually at once, on the calling thread; otherwise on the executor, when
   * the renewal has ended. Do not acquire and hold the key again before the action has run: see
   * above.
   *
   * @param key the key
   * @param unlock what to do when nothing renews the lease any more
   * @return completes with true when the action has run; with false at once if there was nothing to
   *     unlock, because the hold was not the last, or the lease was lost or never held; fails if
   *     the action threw, and the handler is notified too
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
   * How often a lease is held.
   *
   * @param key the key
   * @return how often; 0 if it is not, or was lost
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
   * Begins no further call, and refuses leases. What is held can still be released; {@code onLost}
   * is no longer notified.
   */
  @Override
  public void close() {
    closed = true;
    sweep.settle();
  }

  /** Runs on the executor. */
  private void renewWhatIsDue() {
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
    // The calls do not wait for these, nor these for a call that hangs.
    lost.forEach(lease -> tell(lease, Loss.OVER));
    for (int from = 0; from < due.size() && !closed; from += maxBatch) {
      new RenewalCall<>(this, due.subList(from, Math.min(due.size(), from + maxBatch))).begin();
    }
  }

  /** Returns whether this has ended the lease; then {@code onLost} must be notified. */
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
     * Sets the maximum number of leases renewed in one call: 1,000 by default.
     *
     * @param maxBatch how many
     * @return this builder
     * @throws IllegalStateException if the leases have a renewal call each
     */
    public Builder<K> maxBatch(int maxBatch) {
      if (perKey) {
        throw new IllegalStateException("maxBatch is 1 if leases are renewed by a call each");
      }
      this.maxBatch = Checks.positive("maxBatch", maxBatch);
      return this;
    }

    /**
     * Sets the callback for leases that were lost while they were held. Without one they are lost
     * in silence.
     *
     * @param onLost receives each once, and how it was lost
     * @return this builder
     */
    public Builder<K> onLost(BiConsumer<? super K, ? super Loss> onLost) {
      this.onLost = requireNonNull(onLost, "onLost");
      return this;
    }

    /**
     * Sets the handler of what renewals, callbacks and the executor throw: by default a log. If a
     * renewal of several leases fails, the key is the list of theirs.
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
