// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.handler;

import io.timewheel.durable.model.Firing;
import io.timewheel.durable.spi.Change;
import java.time.Instant;
import java.util.function.Function;

/**
 * Represents an attempt of a handler: a firing, and the change that records its completion. Not
 * thread-safe.
 */
public final class HandlerAttempt {
  private final Firing firing;
  private final Function<Instant, Change.Finish> rescheduled;
  private Change.Finish finish;

  /**
   * @param rescheduled creates the change that reschedules the run to a time
   */
  HandlerAttempt(
      Firing firing, Change.Finish success, Function<Instant, Change.Finish> rescheduled) {
    this.firing = firing;
    this.rescheduled = rescheduled;
    finish = success;
  }

  public Firing firing() {
    return firing;
  }

  /** {@return the change that records the completion} */
  Change.Finish finish() {
    return finish;
  }

  /** Reschedules the run, like {@link Firing#reschedule}. */
  public void reschedule(Instant at) {
    finish = rescheduled.apply(at);
  }
}
