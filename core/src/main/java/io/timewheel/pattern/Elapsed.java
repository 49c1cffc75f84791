// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import io.timewheel.Timeout;
import io.timewheel.Timer;
import java.util.concurrent.TimeUnit;

/**
 * The time of a timer, which has no clock to ask, but whose timeouts tell the time that is left to
 * them even when they are cancelled: this one was, and its deadline is the origin of time.
 */
final class Elapsed {
  private final Timeout origin;

  Elapsed(Timer timer) {
    origin = timer.newTimeout(timeout -> {}, 0, TimeUnit.NANOSECONDS);
    origin.cancel();
  }

  /** The time since this object was made. */
  long nanos() {
    return -origin.remaining(TimeUnit.NANOSECONDS);
  }
}
