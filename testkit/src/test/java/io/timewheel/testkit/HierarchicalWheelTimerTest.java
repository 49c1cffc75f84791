// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import io.timewheel.HierarchicalWheelTimer;
import io.timewheel.Timer;

/**
 * Tests the hierarchical timer against the contract, on a clock that begins at the lowest reading.
 */
class HierarchicalWheelTimerTest extends ThreadedTimerContract {
  HierarchicalWheelTimerTest() {
    super(Long.MIN_VALUE);
  }

  @Override
  protected Timer newTimer(TimerSettings settings) {
    return set(HierarchicalWheelTimer.builder(), settings).stripes(8).build();
  }
}
