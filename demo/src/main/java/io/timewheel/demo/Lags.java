// SPDX-License-Identifier: Apache-2.0
package io.timewheel.demo;

import io.timewheel.Timeout;
import io.timewheel.TimerListener;

/**
 * Collects how late each timeout fired: apart for the first part of the demonstration, in which all
 * processors are busy and the garbage collector is, and for the rest.
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

  /** How late the last timeout was. */
  long lastNanos() {
    return lastNanos;
  }

  long early() {
    return whileStarting.early() + afterwards.early();
  }
}
