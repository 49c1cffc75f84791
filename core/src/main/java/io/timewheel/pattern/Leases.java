// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.util.Objects.requireNonNull;

import io.timewheel.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * Leases that are renewed as long as they are held: the watchdog of a distributed lock. It replaces
 * a renewal timer for each lock.
 *
 * <pre>{@code
 * Leases<String> leases =
 *     Leases.builder(timer, executor, ofSeconds(30), (List<String> locks) -> server.renew(locks))
 *         .onLost(lock -> log.error("lost " + lock))
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
 *   <li>A lease that is held is renewed when at most a third of its time has passed, together with
 *       all others that are due by the next sweep, in one call. There is a sweep at every twelfth
 *       of the lease, while anything is held, and one timeout for all leases together.
 *   <li>When {@link #release} returns, no renewal of the lease begins any more. A call that was
 *       being made with it may still be under way; the action that was given to {@code release}
 *       runs after it has ended, so that no renewal of that lease arrives after the unlock. A key
 *       must not be acquired anew before the action has run: the action would undo that, and it
 *       waits for the renewals of the released lease alone.
 *   <li>A call that fails has renewed nothing, and is tried again at the next sweep, until the
 *       lease is over. A call that hangs holds up the leases in it, the actions of their release,
 *       and a thread of the executor unless it hangs in its stage.
 *   <li>A lease is lost when a call did not name it among those renewed, or when its time is over.
 *       Its holders are told once, by {@code onLost}, unless it was released before. The time is
 *       counted from the moment before the last successful call, so that it is not over later than
 *       at the server; at first it is counted from {@link #hold}, so call that without delay. It is
 *       noticed at the tick at which it is over, if the executor has a thread.
 *   <li>Holding is counted: what is held twice must be released twice. The count begins anew after
 *       a loss.
 *   <li>Calls begin on the executor; a sweep that it rejects is left to the next one. {@code
 *       onLost} runs on the executor, or where the stage of a call is completed that did not name
 *       the lease. If it is slow it delays no renewal, if the executor has a thread for those; and
 *       a call that hangs delays no {@code onLost}, if there is a thread for that.
 *   <li>If the timer is stopped, nothing is renewed any more, and nobody is told of a loss.
 * </ul>
 *
 * <p>A lease takes 72 bytes beside its key, the map's node included.
 *
 * @param <K> the type of the keys
 */
public final class Leases<K> implements AutoCloseable {
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
     * @param keys which
     * @return those that were renewed; the others are lost
     * @throws Exception if it is not known which were renewed, so that all are to be tried again
     */
    Collection<K> renew(List<K> keys) throws Exception;
  }

  /**
   * Renews leases, and knows later which.
   *
   * @param <K> the type of the keys
   */
  @FunctionalInterface
  public interface AsyncRenewal<K> {
    /**
     * Begins to renew leases in one call.
     *
     * @param keys which
     * @return those that were renewed; the others are lost. If it fails, all are to be tried again
     * @throws Exception if it failed at once
     */
    CompletionStage<? extends Collection<K>> begin(List<K> keys) throws Exception;
  }

  final Elapsed clock;
  private final long leaseNanos;
  private final long sweepNanos;
  private final int maxBatch;
  final AsyncRenewal<K> renewal;
  private final Consumer<? super K> onLost;
  private final Executor executor;
  final Errors errors;
  private final ConcurrentHashMap<K, Lease<K>> leases = new ConcurrentHashMap<>();
  private final Sweep sweep;
  private volatile boolean closed;

  Leases(LeasesBuilder<K> settings) {
    clock = new Elapsed(settings.timer);
    leaseNanos = settings.leaseNanos;
    sweepNanos = Math.max(1, leaseNanos / 12);
    maxBatch = settings.maxBatch;
    renewal = settings.renewal;
    onLost = settings.onLost;
    executor = settings.executor;
    errors = new Errors(settings.onError);
    sweep =
        new Sweep(
            settings.timer, sweepNanos, executor, errors, leases::isEmpty, this::renewWhatIsDue);
  }

  /**
   * A builder of leases that are renewed when the call returns. The calls of a sweep are made one
   * after the other.
   *
   * @param timer the timer that they are to use
   * @param executor makes the calls
   * @param lease the time of a lease
   * @param renewal renews leases
   * @return a builder
   * @param <K> the type of the keys
   */
  public static <K> LeasesBuilder<K> builder(
      Timer timer, Executor executor, Duration lease, Renewal<K> renewal) {
    requireNonNull(renewal, "renewal");
    return new LeasesBuilder<>(
        timer, executor, lease, keys -> CompletableFuture.completedStage(renewal.renew(keys)));
  }

  /**
   * A builder of leases that are renewed when the stage that the call returned is complete. The
   * calls of a sweep do not wait for each other.
   *
   * @param timer the timer that they are to use
   * @param executor begins the calls
   * @param lease the time of a lease
   * @param renewal renews leases
   * @return a builder
   * @param <K> the type of the keys
   */
  public static <K> LeasesBuilder<K> asyncBuilder(
      Timer timer, Executor executor, Duration lease, AsyncRenewal<K> renewal) {
    return new LeasesBuilder<>(timer, executor, lease, requireNonNull(renewal, "renewal"));
  }

  /**
   * Holds a lease, which was acquired just now if it was not held before.
   *
   * @param key which
   * @return how often it is held now: 1 if it was not before
   * @throws IllegalStateException if this object or its timer is stopped
   * @throws java.util.concurrent.RejectedExecutionException if the timer is at its limit
   */
  public int hold(K key) {
    requireNonNull(key, "key");
    int holds = 0;
    while (holds == 0) {
      Lease<K> lease = leases.computeIfAbsent(key, k -> new Lease<>(k, clock.nanos()));
      holds = lease.hold();
      if (holds == 0) {
        leases.remove(key, lease); // it has ended, and is not removed yet
      }
    }
    try {
      if (closed) { // after the adding: else closing may pass it by
        throw new IllegalStateException("the leases are closed");
      }
      sweep.start();
    } catch (Throwable e) {
      release(key);
      throw e;
    }
    return holds;
  }

  /**
   * Gives back a hold. Once the last is given back, the lease is not renewed any more.
   *
   * @param key which
   * @return whether it was the last; also false if the lease was lost, or never held
   */
  public boolean release(K key) {
    return release(key, () -> {});
  }

  /**
   * Gives back a hold, as {@link #release(Object)} does, and if that returns true runs an action,
   * the unlock, as soon as no renewal of the lease is under way: mostly at once, on the calling
   * thread; otherwise where the renewal ends. The key must not be acquired anew, and held, before
   * the action has run: see above.
   *
   * @param key which
   * @param afterwards what to do when nothing renews the lease any more
   * @return whether it was the last; also false if the lease was lost, or never held
   */
  public boolean release(K key, Runnable afterwards) {
    requireNonNull(afterwards, "afterwards");
    Lease<K> lease = leases.get(requireNonNull(key, "key"));
    Lease.Release release = lease == null ? Lease.Release.NOT_THE_LAST : lease.release(afterwards);
    if (lease == null || release == Lease.Release.NOT_THE_LAST) {
      return false;
    }
    leases.remove(key, lease);
    if (release == Lease.Release.NOW) {
      afterwards.run();
    }
    return true;
  }

  /**
   * How often a lease is held.
   *
   * @param key which
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
   * Begins no further call, and refuses leases. What is held can still be released; nobody is told
   * of a loss.
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
    long nowNanos = clock.nanos();
    long oldestNanos = nowNanos;
    List<Lease<K>> lost = new ArrayList<>();
    List<Lease<K>> due = new ArrayList<>();
    for (Lease<K> lease : leases.values()) {
      long renewedNanos = lease.renewedNanos();
      long ageNanos = nowNanos - renewedNanos;
      if (ageNanos < leaseNanos) {
        oldestNanos = Math.min(oldestNanos, renewedNanos);
        if (ageNanos >= leaseNanos / 3 - sweepNanos) {
          due.add(lease);
        }
      } else if (lose(lease)) {
        lost.add(lease);
      }
    }
    sweep.hasten(leaseNanos - (clock.nanos() - oldestNanos)); // the scan has taken its time
    if (!lost.isEmpty()) {
      // Neither do the calls wait for this, nor this for a call that hangs.
      errors.runOn(executor, () -> tell(lost));
    }
    for (int from = 0; from < due.size() && !closed; from += maxBatch) {
      new RenewalCall<>(this, due.subList(from, Math.min(due.size(), from + maxBatch))).begin();
    }
  }

  /** Returns whether this has ended the lease, so that its holders are to be told. */
  boolean lose(Lease<K> lease) {
    boolean lost = !closed && lease.end();
    if (lost) {
      leases.remove(lease.key, lease);
    }
    return lost;
  }

  void tell(List<Lease<K>> lost) {
    for (Lease<K> lease : lost) {
      if (!closed) {
        errors.run(() -> onLost.accept(lease.key));
      }
    }
  }
}
