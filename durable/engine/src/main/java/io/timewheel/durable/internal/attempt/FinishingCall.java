// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import io.timewheel.durable.spi.FinishingHandler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * One call of a {@link FinishingHandler}, which may commit many attempts in one transaction. They
 * share one thread, because a thread for each costs more than its share of the transaction.
 */
final class FinishingCall implements AttemptTask, Runnable {
  private final HandlerQueue queue;
  private final FinishingHandler handler;
  private final List<AttemptRun> runs;
  private boolean taken;

  FinishingCall(HandlerQueue queue, FinishingHandler handler, List<AttemptRun> runs) {
    this.queue = queue;
    this.handler = handler;
    this.runs = runs;
  }

  @Override
  public void handOver(Executor executor) {
    runs.forEach(AttemptRun::handed);
    executor.execute(this);
  }

  @Override
  public List<AttemptRun> takeBack() {
    return take() ? runs : List.of();
  }

  private synchronized boolean take() {
    boolean first = !taken;
    taken = true;
    if (first) {
      runs.forEach(AttemptRun::take);
    }
    return first;
  }

  @Override
  public void run() {
    if (!take()) {
      return;
    }
    List<AttemptRun> begun = new ArrayList<>(runs.size());
    List<AttemptRun> others = new ArrayList<>();
    runs.forEach(run -> (queue.begins(run) ? begun : others).add(run));
    try {
      others.forEach(AttemptRun::giveBackUnbegun);
    } finally {
      call(begun);
    }
  }

  private void call(List<AttemptRun> begun) {
    List<FinishingRun> attempts = new ArrayList<>(begun.size());
    Throwable failure = null;
    try {
      begun.forEach(run -> attempts.add(new FinishingRun(run)));
      failure = handle(attempts.stream().filter(attempt -> !attempt.hasEnded()).toList());
    } finally {
      for (FinishingRun attempt : attempts) {
        attempt.end(failure);
      }
      queue.callEnded(begun); // last: an idle queue has passed all outcomes to the committer
    }
  }

  private @Nullable Throwable handle(List<FinishingRun> attempts) {
    try {
      if (!attempts.isEmpty()) {
        handler.handle(attempts);
      }
      return null;
    } catch (Throwable e) {
      return e;
    }
  }
}
