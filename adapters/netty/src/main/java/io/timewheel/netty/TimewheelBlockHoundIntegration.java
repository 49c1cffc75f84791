// SPDX-License-Identifier: Apache-2.0
package io.timewheel.netty;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * Allows event loops to start, move and cancel timeouts, and to stop timers, under BlockHound.
 * Without it, BlockHound throws a {@code BlockingOperationError} when two event loops contend for
 * the lock of a stripe.
 *
 * <p>It allows three waits, in which no user code runs:
 *
 * <ul>
 *   <li>for the lock of a stripe, which another thread holds briefly;
 *   <li>of a thread that polls a timer, to let another thread take that lock;
 *   <li>in {@code stop()}, for the task that the timer thread is running, as Netty allows for its
 *       own timer. It waits at most 10 seconds, or the shutdown timeout passed to {@code stop}.
 * </ul>
 *
 * BlockHound still reports tasks and callbacks that block on an event loop.
 *
 * <p>On the class path, {@code BlockHound.install()} finds this class. On the module path, pass an
 * instance: {@code BlockHound.install(new TimewheelBlockHoundIntegration())}.
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
