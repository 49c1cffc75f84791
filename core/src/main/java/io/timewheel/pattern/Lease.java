// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import org.jspecify.annotations.Nullable;

/**
 * A lease from its first hold to its last release, or its loss. Its own lock decides which of the
 * two happens first, and whether a renewal may begin. No user code runs under that lock. A thread
 * that holds it may take the lock of the call that the lease is in, but not in the reverse order.
 *
 * @param <K> the type of the key
 */
final class Lease<K> {
  final K key;

  // All guarded by this.
  private long renewedNanos;
  private int holds;
  private boolean ended;
  private @Nullable RenewalCall<K> call;
  private @Nullable Runnable afterwards;

  Lease(K key, long nowNanos) {
    this.key = key;
    renewedNanos = nowNanos;
  }

  /** Adds a hold. Returns how often the lease is now held, or 0 if it has ended. */
  synchronized int hold() {
    return ended ? 0 : ++holds;
  }

  synchronized int holds() {
    return ended ? 0 : holds;
  }

  synchronized long renewedNanos() {
    return renewedNanos;
  }

  /**
   * Releases a hold, and ends the lease with the last one. If a renewal has begun and not ended,
   * the action is kept until it ends.
   */
  synchronized Release release(Runnable action) {
    if (ended || --holds > 0) {
      return Release.NOT_THE_LAST;
    }
    ended = true;
    if (call != null && !call.withdraw(this)) {
      afterwards = action;
      return Release.LATER;
    }
    return Release.NOW;
  }

  /** When to run the action of a release. */
  enum Release {
    NOT_THE_LAST,
    NOW,
    LATER
  }

  /** Ends the lease. Returns whether this call ended it. */
  synchronized boolean end() {
    boolean first = !ended;
    ended = true;
    return first;
  }

  /** Adds the lease to a call. Returns false if the lease has ended or is in another call. */
  synchronized boolean join(RenewalCall<K> joined) {
    boolean joins = !ended && call == null;
    if (joins) {
      call = joined;
    }
    return joins;
  }

  /** Ends a renewal. Returns the action of a release that was called meanwhile. */
  synchronized @Nullable Runnable endRenewal(boolean renewed, long begunNanos) {
    call = null;
    if (renewed) {
      renewedNanos = begunNanos;
    }
    Runnable action = afterwards;
    afterwards = null;
    return action;
  }
}
