// SPDX-License-Identifier: Apache-2.0
package io.timewheel.netty;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * Allows event loops to start, move, cancel and stop timers under BlockHound, which otherwise
 * throws a {@code BlockingOperationError} when two of them meet at the lock of a stripe.
 *
 * <p>It allows three waits, in which no user code runs:
 *
 * <ul>
 *   <li>for the lock of a stripe, which another thread holds for a handful of instructions;
 *   <li>of a thread that polls a timer, to let another thread have that lock;
 *   <li>in {@code stop()}, for the task that the timer thread is running, as Netty allows its own
 *       timer; at most 10 seconds, or the limit that {@code stop} was given.
 * </ul>
 *
 * Tasks and callbacks that block on an event loop are reported, as without it.
 *
 * <p>On the class path {@code BlockHound.install()} finds it. On the module path, pass it: {@code
 * BlockHound.install(new TimewheelBlockHoundIntegration())}.
 */
public final class TimewheelBlockHoundIntegration implements BlockHoundIntegration {
  /** Makes the integration. */
  public TimewheelBlockHoundIntegration() {}

  @Override
  public void applyTo(BlockHound.Builder builder) {
    builder
        .allowBlockingCallsInside("io.timewheel.StripeLock", "lockContended")
        .allowBlockingCallsInside("io.timewheel.StripeLock", "giveWay")
        .allowBlockingCallsInside("io.timewheel.Worker", "stop");
  }
}
