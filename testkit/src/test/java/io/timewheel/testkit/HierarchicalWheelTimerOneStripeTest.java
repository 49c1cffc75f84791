// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import io.timewheel.HierarchicalWheelTimer;
import io.timewheel.Timer;

/**
 * Tests the hierarchical timer with one stripe against the contract, on a clock that wraps around.
 */
class HierarchicalWheelTimerOneStripeTest extends ThreadedTimerContract {
  HierarchicalWheelTimerOneStripeTest() {
    super(Long.MAX_VALUE - 5_000_000);
  }

  @Override
  protected Timer newTimer(TimerSettings settings) {
    return set(HierarchicalWheelTimer.builder(), settings).stripes(1).build();
  }
}
