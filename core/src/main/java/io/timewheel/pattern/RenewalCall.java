// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One call that renews leases. Until it begins, a released lease can be withdrawn from it. The call
 * ends once, although a stage may complete twice: by the second time, its leases may be in another
 * call.
 *
 * @param <K> the type of the keys
 */
final class RenewalCall<K> {
  private final Leases<K> owner;
  private final List<Lease<K>> leases = new ArrayList<>();
  private final AtomicBoolean ended = new AtomicBoolean();

  // Both guarded by this.
  private final Set<Lease<K>> withdrawn = new HashSet<>();
  private boolean begun;

  /**
   * Makes a call for the given leases, except those that were released meanwhile or are in another
   * call.
   */
  RenewalCall(Leases<K> owner, List<Lease<K>> due) {
    this.owner = owner;
    for (Lease<K> lease : due) {
      if (lease.join(this)) {
        leases.add(lease);
      }
    }
  }

  /** Withdraws a lease. Returns true if the call has not begun, and will not include this lease. */
  synchronized boolean withdraw(Lease<K> lease) {
    return !begun && withdrawn.add(lease);
  }

  void begin() {
    long begunNanos = owner.clock.nanoTime();
    List<K> keys = new ArrayList<>(leases.size());
    synchronized (this) {
      begun = true; // from here on, no lease can be withdrawn
      leases.removeAll(withdrawn);
      leases.forEach(lease -> keys.add(lease.key));
    }
    if (keys.isEmpty()) {
      return;
    }
    try {
      owner
          .renewal
          .begin(keys)
          .thenApply(HashSet<K>::new)
          .whenComplete((renewed, error) -> ended(begunNanos, renewed, error));
    } catch (Throwable e) {
      ended(begunNanos, null, e);
    }
  }

  private void ended(long begunNanos, @Nullable Set<K> renewed, @Nullable Throwable error) {
    if (!ended.compareAndSet(false, true)) {
      return;
    }
    // End the renewal of all leases before any user code runs, which may be slow. A lease that
    // still seemed to be in this call would not be renewed meanwhile, and would be lost.
    List<Runnable> handOvers = new ArrayList<>();
    for (Lease<K> lease : leases) {
      boolean isRenewed = renewed != null && renewed.contains(lease.key);
      Runnable afterwards = lease.endRenewal(isRenewed, begunNanos);
      if (afterwards != null) {
        handOvers.add(() -> owner.handOver(lease.key, afterwards));
      } else if (renewed != null && !isRenewed && owner.lose(lease)) {
        handOvers.add(() -> owner.tell(lease, Leases.Loss.REFUSED));
      }
    }
    if (error != null) {
      List<K> keys = leases.stream().map(lease -> lease.key).toList();
      owner.errors.handle(keys.size() == 1 ? keys.get(0) : keys, Errors.causeOf(error));
    }
    handOvers.forEach(Runnable::run);
  }
}
