// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples.seams;

import dev.failsafe.Failsafe;
import dev.failsafe.FailsafeExecutor;
import dev.failsafe.RetryPolicy;
import dev.failsafe.spi.Scheduler;
import io.timewheel.examples.Scene;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;

/** A retry policy of Failsafe, whose delays between attempts are timeouts on the timer. */
public final class FailsafeRetry {
  private FailsafeRetry() {}

  /**
   * Runs the example. It prints:
   *
   * <pre>
   * attempt 1
   * attempt 2
   * attempt 3
   * answer: pong
   * </pre>
   *
   * @param args none
   */
  public static void main(String[] args) throws InterruptedException {
    Scene.inRealTime(FailsafeRetry::play);
  }

  static void play(Scene scene) throws InterruptedException {
    ScheduledExecutorService scheduler = scene.scheduler();
    RetryPolicy<String> policy =
        RetryPolicy.<String>builder().withDelay(Duration.ofMillis(100)).build();
    FailsafeExecutor<String> retries = Failsafe.with(policy).with(Scheduler.of(scheduler));

    AtomicInteger attempts = new AtomicInteger();
    CompletableFuture<String> answer =
        retries.getAsync(
            () -> {
              scene.say("attempt " + attempts.incrementAndGet());
              if (attempts.get() < 3) {
                throw new IllegalStateException("no answer");
              }
              return "pong";
            });
    scene.pass(300);
    scene.say("answer: " + answer.getNow("none yet"));
    scheduler.shutdown();
  }
}
