// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import org.jspecify.annotations.Nullable;

/**
 * A lease from its first hold to its last release, or its loss. What of these comes first, and
 * whether a renewal may begin, is decided under its own lock, in which nothing foreign runs.
 *
 * @param <K> the type of the key
 */
final class Lease<K> {
  /** What a renewal has brought. */
  enum Outcome {
    RENEWED,
    LOST,
    UNKNOWN
  }

  final K key;

  // All guarded by this.
  private long renewedNanos;
  private int holds;
  private boolean ended;
  private boolean renewing;
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

  /** Ends with the last hold. The action is kept if a renewal is under way. */
  synchronized Release release(Runnable action) {
    if (ended || --holds > 0) {
      return Release.NOT_THE_LAST;
    }
    ended = true;
    if (renewing) {
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

  synchronized boolean beginRenewal() {
    boolean begun = !ended && !renewing;
    renewing |= begun;
    return begun;
  }

  /** Returns the action of a release that has come meanwhile. */
  synchronized @Nullable Runnable endRenewal(Outcome outcome, long begunNanos) {
    renewing = false;
    if (outcome == Outcome.RENEWED) {
      renewedNanos = begunNanos;
    }
    Runnable action = afterwards;
    afterwards = null;
    return action;
  }
}
