// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.handler;

import io.timewheel.durable.spi.FinishingAttempt;
import io.timewheel.durable.spi.FinishingHandler;
import java.util.List;

/** Handles each attempt in its own transaction. */
public final class SingleHandler implements FinishingHandler {
  private final HandlerTransactions transactions;

  public SingleHandler(HandlerTransactions transactions) {
    this.transactions = transactions;
  }

  @Override
  public void handle(List<? extends FinishingAttempt> attempts) {
    attempts.forEach(this::handle);
  }

  void handle(FinishingAttempt attempt) {
    try {
      attempt.recorded(transactions.handle(List.of(new HandlerAttempt(attempt))).get(0));
    } catch (Throwable e) {
      attempt.failed(e);
    }
  }
}
