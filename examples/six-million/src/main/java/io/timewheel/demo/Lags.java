// SPDX-License-Identifier: Apache-2.0
package io.timewheel.demo;

import io.timewheel.Timeout;
import io.timewheel.TimerListener;

/**
 * Collects how late each timeout fired. Separates the first part of the demonstration, when all
 * processors and the garbage collector are busy, from the rest.
 */
final class Lags implements TimerListener {
  final LagHistogram whileStarting = new LagHistogram();
  final LagHistogram afterwards = new LagHistogram();
  private volatile LagHistogram current = whileStarting;
  private volatile long lastNanos;

  void startingIsOver() {
    current = afterwards;
  }

  @Override
  public void expired(Timeout timeout, long lagNanos) {
    current.add(lagNanos);
    lastNanos = lagNanos;
  }

  /** Returns how late the last timeout was, in nanoseconds. */
  long lastNanos() {
    return lastNanos;
  }

  long early() {
    return whileStarting.early() + afterwards.early();
  }
}
