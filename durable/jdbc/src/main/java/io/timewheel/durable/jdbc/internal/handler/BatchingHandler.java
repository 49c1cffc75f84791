// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.handler;

import io.timewheel.durable.spi.FinishingAttempt;
import io.timewheel.durable.spi.FinishingHandler;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.record.Outcome;
import java.util.List;
import java.util.concurrent.Semaphore;

/**
 * Handles attempts in one transaction. If it fails, handles each of them in its own transaction.
 */
public final class BatchingHandler implements FinishingHandler {
  private final HandlerTransactions transactions;
  private final SingleHandler alone;
  private final int maxBatch;

  /** The engine limits calls for each name; this limits the connections for all names. */
  private final Semaphore calls = new Semaphore(MAX_CALLS);

  public BatchingHandler(HandlerTransactions transactions, int maxBatch) {
    this.transactions = transactions;
    this.maxBatch = maxBatch;
    alone = new SingleHandler(transactions);
  }

  @Override
  public int maxBatch() {
    return maxBatch;
  }

  @Override
  public void handle(List<? extends FinishingAttempt> attempts) {
    try {
      calls.acquire();
    } catch (InterruptedException e) { // the engine was closed, and calls of other names stall
      attempts.forEach(attempt -> attempt.failed(e));
      return;
    }
    try {
      handleTogether(attempts);
    } finally {
      calls.release();
    }
  }

  private void handleTogether(List<? extends FinishingAttempt> attempts) {
    if (attempts.size() == 1) {
      alone.handle(attempts);
      return;
    }
    List<Outcome> outcomes;
    try {
      outcomes = transactions.handle(attempts.stream().map(HandlerAttempt::new).toList());
    } catch (Throwable e) {
      if (isUnknown(e)) {
        attempts.forEach(attempt -> attempt.failed(e));
      } else {
        alone.handle(attempts);
      }
      return;
    }
    if (outcomes.stream().allMatch(outcome -> outcome.answer() == Outcome.Answer.APPLIED)) {
      for (int i = 0; i < attempts.size(); i++) {
        attempts.get(i).recorded(outcomes.get(i));
      }
    } else {
      alone.handle(attempts);
    }
  }

  /**
   * Returns whether the transaction may have been committed. If so, nothing in it is repeated here.
   */
  private static boolean isUnknown(Throwable failure) {
    return failure instanceof StoreException e && e.kind() == StoreException.Kind.UNKNOWN;
  }
}
