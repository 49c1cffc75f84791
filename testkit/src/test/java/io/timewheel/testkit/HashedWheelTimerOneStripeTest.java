// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import io.timewheel.HashedWheelTimer;
import io.timewheel.Timer;

/** Holds the hashed timer of one stripe to the contract, on a clock that begins before zero. */
class HashedWheelTimerOneStripeTest extends ThreadedTimerContract {
  HashedWheelTimerOneStripeTest() {
    super(-1);
  }

  @Override
  protected Timer newTimer(TimerSettings settings) {
    return set(HashedWheelTimer.builder(), settings).stripes(1).build();
  }
}
