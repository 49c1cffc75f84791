// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One call that renews leases. It ends once, though a stage may say so twice: the second time its
 * leases may be in another call.
 *
 * @param <K> the type of the keys
 */
final class RenewalCall<K> {
  private final Leases<K> owner;
  private final List<Lease<K>> leases = new ArrayList<>();
  private final List<K> keys = new ArrayList<>();
  private final AtomicBoolean ended = new AtomicBoolean();

  /** With those of the leases that are neither released meanwhile nor in another call. */
  RenewalCall(Leases<K> owner, List<Lease<K>> due) {
    this.owner = owner;
    for (Lease<K> lease : due) {
      if (lease.beginRenewal()) {
        leases.add(lease);
        keys.add(lease.key);
      }
    }
  }

  void begin() {
    if (leases.isEmpty()) {
      return;
    }
    long begunNanos = owner.clock.nanos();
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
    // The renewal of all ends before anything foreign runs, which may be slow: a lease that still
    // seemed to be in this call would not be renewed meanwhile, and be lost.
    List<Runnable> unlocks = new ArrayList<>();
    List<Lease<K>> lost = new ArrayList<>();
    for (Lease<K> lease : leases) {
      Lease.Outcome outcome =
          renewed == null
              ? Lease.Outcome.UNKNOWN
              : renewed.contains(lease.key) ? Lease.Outcome.RENEWED : Lease.Outcome.LOST;
      Runnable afterwards = lease.endRenewal(outcome, begunNanos);
      if (afterwards != null) {
        unlocks.add(afterwards);
      } else if (outcome == Lease.Outcome.LOST && owner.lose(lease)) {
        lost.add(lease);
      }
    }
    owner.tell(lost);
    if (error != null) {
      owner.errors.handle(Errors.causeOf(error));
    }
    unlocks.forEach(owner.errors::run);
  }
}
