// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.handler;

import io.timewheel.durable.model.Firing;
import io.timewheel.durable.spi.FinishingAttempt;
import io.timewheel.durable.spi.record.Change;
import java.time.Instant;

/**
 * Represents an attempt in one transaction: a firing, and the change that records its completion.
 * Not thread-safe.
 */
public final class HandlerAttempt {
  private final FinishingAttempt attempt;
  private Change.Finish finish;

  HandlerAttempt(FinishingAttempt attempt) {
    this.attempt = attempt;
    finish = attempt.success();
  }

  public Firing firing() {
    return attempt.firing();
  }

  /** {@return the change that records the completion} */
  Change.Finish finish() {
    return finish;
  }

  /** Reschedules the run, like {@link Firing#reschedule}. */
  public void reschedule(Instant at) {
    finish = attempt.rescheduled(at);
  }
}
