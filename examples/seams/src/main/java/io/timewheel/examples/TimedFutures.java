// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

import io.timewheel.HierarchicalWheelTimer;
import io.timewheel.Timer;
import io.timewheel.concurrent.Deadline;
import io.timewheel.concurrent.FutureTimeouts;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Adds timeouts to futures, and limits several steps by one deadline. */
public final class TimedFutures {
  private TimedFutures() {}

  /**
   * Runs the example. It prints:
   *
   * <pre>
   * answer: 42
   * pending: 0
   * no answer: a guess
   * </pre>
   *
   * @param args none
   */
  public static void main(String[] args) {
    try (Timer timer = HierarchicalWheelTimer.create()) {
      FutureTimeouts timeouts = FutureTimeouts.on(timer);
      Deadline deadline = Deadline.after(Duration.ofSeconds(30)); // for all following steps

      CompletableFuture<String> answer =
          timeouts.orTimeout(new CompletableFuture<>(), deadline.remaining());
      answer.complete("42"); // in time: the timer holds nothing
      System.out.println("answer: " + answer.join());
      System.out.println("pending: " + timer.pendingTimeouts());

      Deadline oneStep = deadline.within(Duration.ofMillis(20)); // but not beyond the 30 s
      CompletableFuture<String> noAnswer =
          timeouts.completeOnTimeout(new CompletableFuture<>(), "a guess", oneStep.remaining());
      System.out.println("no answer: " + noAnswer.join());
    }
  }
}
