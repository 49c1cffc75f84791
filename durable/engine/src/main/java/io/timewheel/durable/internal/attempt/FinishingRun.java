// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.Firing;
import io.timewheel.durable.spi.FinishingAttempt;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
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

  /** The end that the handler asked for last. */
  private @Nullable AttemptEnd asked;

  private @Nullable Object event;
  private boolean ended;

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

  AttemptRun run() {
    return run;
  }

  boolean hasEnded() {
    return ended;
  }

  /**
   * Ends the attempt after the call of the handler, if the handler has not.
   *
   * @param thrown the exception of the call
   */
  void end(@Nullable Throwable thrown) {
    if (!ended) {
      failed(thrown != null ? thrown : new IllegalStateException("the handler has not ended it"));
    }
  }

  /** Records the end at once: other attempts of the call may still take long. */
  private void end(@Nullable Throwable error, Runnable recording) {
    ended = true;
    try {
      run.endsHere(firing, event, error);
    } finally {
      run.endInCall(recording);
    }
  }

  @Override
  public Firing firing() {
    return firing;
  }

  @Override
  public Change.Finish success() {
    asked = requireNonNull(success);
    return asked.change();
  }

  @Override
  public Change.Finish rescheduled(Instant at) {
    asked = run.postponed(firing, requireNonNull(success), at);
    return asked.change();
  }

  @Override
  public void recorded(Outcome outcome) {
    if (outcome.answer() != Outcome.Answer.APPLIED) {
      failed(
          new IllegalStateException(
              "the store refused the success of the attempt, and nothing was committed: "
                  + outcome.answer()));
    } else if (!ended) {
      end(null, () -> run.recorded(requireNonNull(asked), outcome));
    }
  }

  @Override
  public void failed(Throwable why) {
    requireNonNull(why, "failure");
    if (!ended) {
      end(why, () -> run.recordEnd(firing, why));
    }
  }
}
