// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import io.timewheel.HashedWheelTimer;
import io.timewheel.Timer;

/**
 * Tests the hashed timer with one stripe against the contract, on a clock that begins before zero.
 */
class HashedWheelTimerOneStripeTest extends ThreadedTimerContract {
  HashedWheelTimerOneStripeTest() {
    super(-1);
  }

  @Override
  protected Timer newTimer(TimerSettings settings) {
    return set(HashedWheelTimer.builder(), settings).stripes(1).build();
  }
}
