// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import io.timewheel.HashedWheelTimer;
import io.timewheel.Timer;

/** Tests the hashed timer against the contract, with a wheel that turns often. */
class HashedWheelTimerTest extends ThreadedTimerContract {
  HashedWheelTimerTest() {
    super(0);
  }

  @Override
  protected Timer newTimer(TimerSettings settings) {
    return set(HashedWheelTimer.builder(), settings).ticksPerWheel(64).stripes(8).build();
  }
}
