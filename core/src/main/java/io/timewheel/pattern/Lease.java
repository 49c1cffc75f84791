// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import org.jspecify.annotations.Nullable;

/**
 * A lease from its first hold to its last release, or its loss. Which of these comes first, and
 * whether a renewal may begin, is decided under its own lock, under which no user code runs. A
 * thread that holds that lock may take the lock of the call that the lease is in, never the other
 * way round.
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

  /** Returns how often it is held now, or 0 if it has ended. */
  synchronized int hold() {
    return ended ? 0 : ++holds;
  }

  synchronized int holds() {
    return ended ? 0 : holds;
  }

  synchronized long renewedNanos() {
    return renewedNanos;
  }

  /** Ends with the last hold. The action is kept if a renewal has begun and not ended. */
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

  /** When the action of a release is to run. */
  enum Release {
    NOT_THE_LAST,
    NOW,
    LATER
  }

  /** Returns whether this call has ended it. */
  synchronized boolean end() {
    boolean first = !ended;
    ended = true;
    return first;
  }

  /** Returns whether the lease is in this call now: neither ended nor in another one. */
  synchronized boolean join(RenewalCall<K> joined) {
    boolean joins = !ended && call == null;
    if (joins) {
      call = joined;
    }
    return joins;
  }

  /** Returns the action of a release that came meanwhile. */
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
