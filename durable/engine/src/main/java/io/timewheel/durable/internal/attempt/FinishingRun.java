// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.Firing;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.FinishingAttempt;
import io.timewheel.durable.spi.Outcome;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An attempt that begins and ends within a {@link FinishingCall}. Used by one thread.
 *
 * <p>If the store refuses its success, it commits neither the success nor the effects. The attempt
 * has then failed, and the store decides whether it accepts the failure.
 */
final class FinishingRun implements FinishingAttempt {
  private final AttemptRun run;
  private final AttemptFiring firing;
  private @Nullable AttemptEnd success;
  private @Nullable Object event;
  private @Nullable Outcome applied;
  private @Nullable Throwable failure;

  /** Begins an attempt on this thread. If that fails, the attempt has ended. */
  FinishingRun(AttemptRun run) {
    this.run = run;
    firing = run.began();
    try {
      // First, so that the handler has no effects that could not be recorded.
      success = run.success();
      event = run.beginsHere();
    } catch (Throwable e) {
      failed(e);
    }
  }

  boolean hasEnded() {
    return applied != null || failure != null;
  }

  /**
   * Ends the attempt after the call of the handler, and records its end.
   *
   * @param thrown the exception of the call
   */
  void end(@Nullable Throwable thrown) {
    failed(thrown != null ? thrown : new IllegalStateException("the handler has not ended it"));
    run.record(
        () -> {
          if (applied != null) {
            run.recorded(requireNonNull(success), applied);
          } else {
            run.recordEnd(firing, requireNonNull(failure));
          }
        });
  }

  @Override
  public Firing firing() {
    return firing;
  }

  @Override
  public Change.Finish success() {
    return requireNonNull(success).change();
  }

  @Override
  public Change.Finish rescheduled(Instant at) {
    return firing.rescheduled(success(), at);
  }

  @Override
  public void recorded(Outcome outcome) {
    if (outcome.answer() != Outcome.Answer.APPLIED) {
      failed(
          new IllegalStateException(
              "the store refused the success of the attempt, and nothing was committed: "
                  + outcome.answer()));
    } else if (!hasEnded()) {
      applied = outcome;
      run.endsHere(firing, event, null);
    }
  }

  @Override
  public void failed(Throwable why) {
    if (!hasEnded()) {
      failure = requireNonNull(why, "failure");
      run.endsHere(firing, event, why);
    }
  }
}
