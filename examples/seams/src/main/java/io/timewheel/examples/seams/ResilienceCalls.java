// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples.seams;

import static java.util.Objects.requireNonNull;

import io.github.resilience4j.retry.Retry;
import io.github.resilience4j.retry.RetryConfig;
import io.github.resilience4j.timelimiter.TimeLimiter;
import io.timewheel.examples.Scene;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;

/** Retries and time limits of resilience4j, whose delays are timeouts on the timer. */
public final class ResilienceCalls {
  private ResilienceCalls() {}

  /**
   * Runs the example. It prints:
   *
   * <pre>
   * attempt 1
   * attempt 2
   * attempt 3
   * answer: pong
   * no answer: TimeoutException
   * </pre>
   *
   * @param args none
   */
  public static void main(String[] args) throws InterruptedException {
    Scene.inRealTime(ResilienceCalls::play);
  }

  static void play(Scene scene) throws InterruptedException {
    ScheduledExecutorService scheduler = scene.scheduler();
    Retry retry =
        Retry.of("ping", RetryConfig.custom().waitDuration(Duration.ofMillis(100)).build());
    TimeLimiter limiter = TimeLimiter.of(Duration.ofMillis(500));
    Peer peer = new Peer(scene);

    CompletionStage<String> answer = retry.executeCompletionStage(scheduler, peer::ping);
    scene.pass(250);
    scene.say("answer: " + answer.toCompletableFuture().join());

    CompletionStage<String> silence = limiter.executeCompletionStage(scheduler, peer::silence);
    scene.pass(550);
    try {
      scene.say("answer: " + silence.toCompletableFuture().join());
    } catch (CompletionException e) {
      scene.say("no answer: " + requireNonNull(e.getCause()).getClass().getSimpleName());
    }
    scheduler.shutdown();
  }

  /** A peer that answers the third ping, and never answers {@link #silence}. */
  private static final class Peer {
    private final Scene scene;
    private final AtomicInteger attempts = new AtomicInteger();

    Peer(Scene scene) {
      this.scene = scene;
    }

    CompletionStage<String> ping() {
      scene.say("attempt " + attempts.incrementAndGet());
      return attempts.get() < 3
          ? CompletableFuture.failedFuture(new IllegalStateException("no answer"))
          : CompletableFuture.completedFuture("pong");
    }

    CompletionStage<String> silence() {
      return new CompletableFuture<>();
    }
  }
}
