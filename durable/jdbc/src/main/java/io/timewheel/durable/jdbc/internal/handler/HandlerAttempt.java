// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.handler;

import io.timewheel.durable.Firing;
import io.timewheel.durable.spi.Change;
import java.time.Instant;

/** An attempt of a handler: a firing, and the change that records its end. Not thread-safe. */
public final class HandlerAttempt {
  private final Firing firing;
  private final Change.Finish success;
  private Change.Finish finish;

  HandlerAttempt(Firing firing, Change.Finish success) {
    this.firing = firing;
    this.success = success;
    finish = success;
  }

  public Firing firing() {
    return firing;
  }

  /** {@return the change that records the end} */
  Change.Finish finish() {
    return finish;
  }

  /** Reschedules the run, as {@link Firing#reschedule} does. */
  public void reschedule(Instant at) {
    finish = firing.rescheduled(success, at);
  }
}
