// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import io.timewheel.durable.spi.FinishingHandler;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One call of a {@link FinishingHandler}, which may commit many attempts in one transaction. They
 * share one thread, because a thread for each costs more than its share of the transaction.
 */
final class FinishingCall implements Runnable {
  private final HandlerAttempts attempts;
  private final FinishingHandler handler;
  private final List<AttemptRun> runs;

  FinishingCall(HandlerAttempts attempts, FinishingHandler handler, List<AttemptRun> runs) {
    this.attempts = attempts;
    this.handler = handler;
    this.runs = runs;
  }

  @Override
  public void run() {
    runs.forEach(AttemptRun::taken);
    List<AttemptRun> begun = new ArrayList<>(runs.size());
    try {
      call(begun);
    } finally {
      attempts.callEnded(begun); // last: an idle queue has passed all outcomes to the committer
    }
  }

  private void call(List<AttemptRun> begun) {
    List<FinishingRun> started = new ArrayList<>(runs.size());
    for (AttemptRun run : runs) {
      if (attempts.begins(run)) {
        begun.add(run);
        isolated(run, () -> started.add(new FinishingRun(run)));
      } else {
        isolated(run, run::giveBack);
      }
    }
    Throwable failure = handle(started);
    for (FinishingRun attempt : started) {
      isolated(attempt.run(), () -> attempt.end(failure));
    }
  }

  /** Runs a step of one attempt. Its exception ends that attempt and no other. */
  private static void isolated(AttemptRun run, Runnable step) {
    try {
      step.run();
    } catch (Throwable e) {
      run.endInCall(
          () -> {
            throw new IllegalStateException("a step of the attempt has failed", e);
          });
    }
  }

  private @Nullable Throwable handle(List<FinishingRun> started) {
    try {
      List<FinishingRun> open = started.stream().filter(each -> !each.hasEnded()).toList();
      if (!open.isEmpty()) {
        handler.handle(open);
      }
      return null;
    } catch (Throwable e) {
      return e;
    }
  }
}
