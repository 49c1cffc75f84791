// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;

class RetriesTest {
  private final Rig rig = new Rig();
  private final List<String> attempts = new ArrayList<>();
  private final List<String> exhausted = new ArrayList<>();
  private int failures = Integer.MAX_VALUE;

  private final Retries<String> retries = make().maxAttempts(3).build();

  private RetriesBuilder<String> make() {
    return with(Retries.builder(rig.timer, rig, this::attempt));
  }

  private RetriesBuilder<String> with(RetriesBuilder<String> builder) {
    return builder
        .backoff(Backoff.exponential(ofMillis(10), ofMillis(40)))
        .onExhausted((key, error) -> exhausted.add(key + " " + error.getMessage()))
        .onError(rig.errors::add);
  }

  private void attempt(String key) throws Exception {
    attempts.add(key + rig.nowMillis());
    if (failures-- > 0) {
      throw new Exception("failed " + failures);
    }
  }

  @Test
  void isTriedUntilItSucceeds() {
    failures = 2;
    assertThat(retries.add("a")).isTrue();
    rig.liveMillis(1_000);
    assertThat(attempts).containsExactly("a10", "a30", "a70");
    assertThat(exhausted).isEmpty();
    assertThat(retries.size()).isZero();
    rig.assertNothingPending();
  }

  /** Blocking work on the timer's thread held up everything else. */
  @Test
  void neitherAttemptsNorTheirEndRunOnTheTimersThread() {
    retries.add("a");
    rig.advanceMillis(10);
    assertThat(attempts).isEmpty();
    rig.runTasks();
    rig.liveMillis(59);
    rig.advanceMillis(1);
    assertThat(attempts).as("of the third").hasSize(2);
    rig.tasks.remove().run();
    assertThat(attempts).hasSize(3);
    assertThat(exhausted).as("handed to the executor").isEmpty();
    rig.runTasks();
    assertThat(exhausted).hasSize(1);
  }

  @Test
  void aKeyThatIsBeingTriedIsNotAddedAgain() {
    failures = 1;
    assertThat(retries.add("a")).isTrue();
    assertThat(retries.add("a")).isFalse();
    rig.liveMillis(10);
    assertThat(retries.add("a")).as("waits for its second attempt").isFalse();
    rig.liveMillis(20);
    assertThat(attempts).containsExactly("a10", "a30");
    assertThat(retries.add("a")).as("has succeeded").isTrue();
  }

  /** Exhausted retries that leave their key in the map are never tried again. */
  @Test
  void anExhaustedKeyIsFreeAgainAndSaidToBe() {
    failures = 3;
    retries.add("a");
    rig.liveMillis(1_000);
    assertThat(attempts).hasSize(3);
    assertThat(exhausted).containsExactly("a failed 0");
    assertThat(retries.size()).isZero();

    assertThat(retries.add("a")).isTrue();
    rig.liveMillis(10);
    assertThat(attempts).hasSize(4);
    assertThat(retries.size()).isZero();
  }

  @Test
  void onExhaustedMayAddTheKeyAgain() {
    List<Boolean> again = new ArrayList<>();
    Retries<String>[] self = newArray();
    self[0] =
        make().maxAttempts(1).onExhausted((key, error) -> again.add(self[0].add(key))).build();
    self[0].add("a");
    rig.liveMillis(25);
    assertThat(attempts).containsExactly("a10", "a20");
    assertThat(again).containsExactly(true, true);
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private static Retries<String>[] newArray() {
    return new Retries[1];
  }

  /** Runs never pile up: an attempt that takes long delays its own next one, and no other's. */
  @Test
  void theNextAttemptIsScheduledWhenTheLastHasEnded() {
    List<CompletableFuture<Void>> stages = new ArrayList<>();
    Retries<String> async =
        with(Retries.asyncBuilder(
                rig.timer,
                rig,
                key -> {
                  attempts.add(key + rig.nowMillis());
                  stages.add(new CompletableFuture<>());
                  return stages.get(stages.size() - 1);
                }))
            .build();
    async.add("a");
    rig.liveMillis(500);
    assertThat(attempts).containsExactly("a10");
    rig.assertNothingPending();

    stages.get(0).completeExceptionally(new Exception("at 500"));
    rig.liveMillis(100);
    assertThat(attempts).containsExactly("a10", "a520");

    stages.get(1).complete(null);
    rig.liveMillis(100);
    assertThat(attempts).hasSize(2);
    assertThat(async.size()).isZero();
  }

  @Test
  void theErrorOfAStageIsItsCause() {
    Retries<String> async =
        with(Retries.asyncBuilder(
                rig.timer,
                rig,
                key ->
                    CompletableFuture.failedFuture(
                        new CompletionException(new Exception("inner")))))
            .maxAttempts(1)
            .build();
    async.add("a");
    rig.liveMillis(10);
    assertThat(exhausted).containsExactly("a inner");
  }

  /** A throwable of any kind, and a stage that is not there, are failures. */
  @Test
  void errorsAreFailuresToo() {
    Retries<String> bad =
        with(Retries.asyncBuilder(
                rig.timer,
                rig,
                key -> {
                  if (key.equals("null")) {
                    return null;
                  }
                  throw new StackOverflowError("deep");
                }))
            .maxAttempts(2)
            .build();
    bad.add("null");
    bad.add("a");
    rig.liveMillis(100);
    assertThat(exhausted).hasSize(2).contains("a deep");
    assertThat(rig.errors).isEmpty();
  }

  @Test
  void aStageThatEndsTwiceEndsOneAttempt() {
    Retries<String> rude =
        with(Retries.asyncBuilder(
                rig.timer,
                rig,
                key -> {
                  attempts.add(key + rig.nowMillis());
                  return new CompletableFuture<Void>() {
                    @Override
                    public <U> CompletableFuture<U> handle(
                        BiFunction<? super Void, Throwable, ? extends U> action) {
                      List<U> ends =
                          List.of(
                              action.apply(null, new Exception("once")),
                              action.apply(null, new Exception("twice")));
                      return CompletableFuture.completedFuture(ends.get(1));
                    }
                  };
                }))
            .maxAttempts(2)
            .build();
    rude.add("a");
    rig.liveMillis(1_000);
    assertThat(attempts).containsExactly("a10", "a30");
    assertThat(exhausted).containsExactly("a once");
  }

  @Test
  void whatTheExecutorRejectsIsAFailedAttempt() {
    rig.takes = false;
    rig.rejects = true;
    retries.add("a");
    rig.advanceMillis(69);
    assertThat(exhausted).isEmpty();
    rig.advanceMillis(1);
    assertThat(attempts).isEmpty();
    assertThat(exhausted).containsExactly("a rejected by the test");
    assertThat(retries.size()).isZero();
  }

  @Test
  void whatTheExecutorTakesAndRejectsIsOneAttempt() {
    rig.rejects = true;
    retries.add("a");
    rig.liveMillis(1_000);
    assertThat(attempts).isEmpty();
    assertThat(exhausted).containsExactly("a rejected by the test");
  }

  @Test
  void noAttemptIsDueAfterTheDeadline() {
    Retries<String> hurried = make().deadline(ofMillis(69)).build();
    hurried.add("a");
    rig.liveMillis(1_000);
    assertThat(attempts).containsExactly("a10", "a30");
    assertThat(exhausted).hasSize(1);

    Retries<String> hopeless = make().deadline(ofMillis(9)).build();
    hopeless.add("b");
    rig.runTasks();
    assertThat(exhausted).element(1).asString().contains("after the deadline");
    assertThat(hopeless.size()).isZero();
  }

  @Test
  void aBackoffThatThrowsExhausts() {
    Retries<String> bad =
        make()
            .backoff(
                attempt -> {
                  if (attempt == 2) {
                    throw new IllegalStateException("no delay");
                  }
                  return Duration.ZERO;
                })
            .build();
    bad.add("a");
    rig.liveMillis(10);
    assertThat(exhausted).containsExactly("a no delay");
    assertThat(bad.size()).isZero();
  }

  @Test
  void cancellingFreesTheKeyAndLeavesNothing() {
    retries.add("a");
    retries.add("b");
    retries.add("c");
    assertThat(retries.cancel("a")).isTrue();
    assertThat(retries.cancel("a")).isFalse();
    assertThat(rig.timer.pendingTimeouts()).isEqualTo(2);
    assertThat(retries.cancelAll()).containsExactlyInAnyOrder("b", "c");
    rig.assertNothingPending();
    rig.liveMillis(100);
    assertThat(attempts).isEmpty();
    assertThat(exhausted).isEmpty();
  }

  @Test
  void theOutcomeOfACancelledAttemptIsIgnored() {
    CompletableFuture<Void> stage = new CompletableFuture<>();
    Retries<String> async =
        with(Retries.asyncBuilder(rig.timer, rig, key -> stage)).maxAttempts(1).build();
    async.add("a");
    rig.liveMillis(10);
    async.cancel("a");
    stage.completeExceptionally(new Exception());
    rig.liveMillis(10);
    assertThat(exhausted).isEmpty();
    rig.assertNothingPending();
  }

  @Test
  void anAttemptThatWasHandedToTheExecutorDoesNotBeginAfterItsCancellation() {
    retries.add("a");
    rig.advanceMillis(10);
    retries.cancel("a");
    rig.runTasks();
    assertThat(attempts).isEmpty();
  }

  @Test
  void onExhaustedThatThrowsHarmsNobody() {
    Retries<String> bad =
        make()
            .maxAttempts(1)
            .onExhausted(
                (key, error) -> {
                  throw new IllegalStateException("exhausted badly");
                })
            .build();
    bad.add("a");
    bad.add("b");
    rig.liveMillis(20);
    assertThat(rig.errorMessages()).containsExactly("exhausted badly", "exhausted badly");
    assertThat(bad.size()).isZero();
  }

  @Test
  void closedItRefuses() {
    retries.add("a");
    retries.close();
    rig.assertNothingPending();
    assertThatIllegalStateException()
        .isThrownBy(() -> retries.add("b"))
        .withMessage("the retries are closed");
    assertThat(retries.size()).isZero();
  }

  @Test
  void aStoppedTimerForgetsWhatWaitsAndRefusesMore() {
    retries.add("a");
    rig.timer.stop();
    assertThat(retries.size()).isZero();
    retries.add("b");
    rig.runTasks();
    assertThat(exhausted).containsExactly("b the timer is stopped");
    assertThat(retries.size()).isZero();
  }

  // Backoff

  @Test
  void exponentialDoublesUpToItsBound() {
    Backoff backoff = Backoff.exponential(ofMillis(3), ofMillis(20));
    assertThat(List.of(1, 2, 3, 4, 5, 62, 63, 64, 65, Integer.MAX_VALUE))
        .extracting(attempt -> backoff.delay(attempt).toMillis())
        .containsExactly(3L, 6L, 12L, 20L, 20L, 20L, 20L, 20L, 20L, 20L);
    Backoff long1 = Backoff.exponential(Duration.ofNanos(1), Duration.ofSeconds(Long.MAX_VALUE));
    assertThat(long1.delay(63).toNanos()).isEqualTo(1L << 62);
    assertThat(long1.delay(64).toNanos()).isEqualTo(Long.MAX_VALUE);
    assertThat(long1.delay(65).toNanos()).isEqualTo(Long.MAX_VALUE);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Backoff.exponential(Duration.ZERO, ofMillis(1)))
        .withMessage("first: PT0S (expected: more than zero)");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> make().deadline(ofMillis(-1)))
        .withMessage("deadline: PT-0.001S (expected: more than zero)");
  }

  @Test
  void jitterIsARandomPartOfTheDelay() {
    Backoff half = Backoff.fixed(ofMillis(10)).withFullJitter(() -> 0.5);
    assertThat(half.delay(1)).isEqualTo(ofMillis(5));
    assertThat(half.delay(9)).isEqualTo(ofMillis(5));
    Backoff any = Backoff.fixed(ofMillis(10)).withFullJitter();
    for (int i = 1; i < 100; i++) {
      assertThat(any.delay(i)).isBetween(Duration.ZERO, ofMillis(10));
    }
  }

  /** What the last attempt failed with is what is told, and no time-out of our own. */
  @Test
  void firstAttemptBeyondTheDeadlineIsATimeout() {
    List<Throwable> told = new ArrayList<>();
    Retries<String> hopeless =
        make().deadline(ofMillis(1)).onExhausted((key, error) -> told.add(error)).build();
    hopeless.add("a");
    rig.runTasks();
    assertThat(told).hasOnlyElementsOfType(TimeoutException.class).hasSize(1);
    rig.rejects = true;
    rig.takes = false;
    hopeless.add("b");
    assertThat(told).hasSize(2);
    assertThat(rig.errors).hasOnlyElementsOfType(RejectedExecutionException.class);
  }
}
