// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.timewheel.concurrent.Deadline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class RetriesTest {
  private final Rig rig = new Rig();
  private final List<String> attempts = new ArrayList<>();
  private final List<String> exhausted = new ArrayList<>();
  private int failures = Integer.MAX_VALUE;

  private final Retries<String> retries = make().maxAttempts(3).build();

  private Retries.Builder<String> make() {
    return with(Retries.builder(rig.timer, rig, this::attempt));
  }

  private Retries.Builder<String> with(Retries.Builder<String> builder) {
    return builder
        .backoff(Backoff.exponential(ofMillis(10), ofMillis(40)))
        .onExhausted((key, error) -> exhausted.add(key + " " + error.getMessage()))
        .onError(rig::error);
  }

  private void attempt(String key, int attempt) throws Exception {
    attempts.add(key + rig.nowMillis());
    if (failures-- > 0) {
      throw new Exception("failed " + failures);
    }
  }

  @Test
  @Tag("promise-Retries")
  void triesUntilSuccess() {
    failures = 2;
    assertThat(retries.add("a")).isTrue();
    rig.liveMillis(1_000);
    assertThat(attempts).containsExactly("a10", "a30", "a70");
    assertThat(exhausted).isEmpty();
    assertThat(retries.size()).isZero();
    rig.assertNothingPending();
  }

  /** Regression: blocking work on the timer thread delayed all other timeouts. */
  @Test
  @Tag("promise-Retries")
  @Tag("promise-All")
  void runsNoUserCodeOnTheTimerThread() {
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
  void keyThatIsBeingTriedIsNotAddedAgain() {
    failures = 1;
    assertThat(retries.add("a")).isTrue();
    assertThat(retries.add("a")).isFalse();
    rig.liveMillis(10);
    assertThat(retries.add("a")).as("waits for its second attempt").isFalse();
    rig.liveMillis(20);
    assertThat(attempts).containsExactly("a10", "a30");
    assertThat(retries.add("a")).as("has succeeded").isTrue();
  }

  /** An exhausted key that stays in the map is never tried again. */
  @Test
  @Tag("promise-Retries")
  void exhaustedKeyIsReportedAndFree() {
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

  /** Runs do not pile up: a long attempt delays its own next attempt, and no others. */
  @Test
  @Tag("promise-Retries")
  void waitsForTheEndOfAnAttemptBeforeTheNext() {
    List<CompletableFuture<Void>> stages = new ArrayList<>();
    Retries<String> async =
        with(Retries.asyncBuilder(
                rig.timer,
                rig,
                (key, number) -> {
                  attempts.add(key + rig.nowMillis());
                  stages.add(new CompletableFuture<>());
                  return stages.get(stages.size() - 1);
                }))
            .build();
    async.add("a");
    rig.liveMillis(500);
    assertThat(attempts).containsExactly("a10");
    assertThat(rig.timer.pendingTimeouts()).as("stays pending").isOne();

    stages.get(0).completeExceptionally(new Exception("at 500"));
    rig.liveMillis(100);
    assertThat(attempts).containsExactly("a10", "a520");

    stages.get(1).complete(null);
    rig.liveMillis(100);
    assertThat(attempts).hasSize(2);
    assertThat(async.size()).isZero();
  }

  @Test
  void unwrapsTheErrorOfAStage() {
    Retries<String> async =
        with(Retries.asyncBuilder(
                rig.timer,
                rig,
                (key, number) ->
                    CompletableFuture.failedFuture(
                        new CompletionException(new Exception("inner")))))
            .maxAttempts(1)
            .build();
    async.add("a");
    rig.liveMillis(10);
    assertThat(exhausted).containsExactly("a inner");
  }

  /** A throwable of any kind, and a null stage, are failures. */
  @Test
  void errorsAndNullStagesAreFailures() {
    Retries<String> bad =
        with(Retries.asyncBuilder(
                rig.timer,
                rig,
                (key, number) -> {
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
  void stageThatEndsTwiceEndsOneAttempt() {
    Retries<String> rude =
        with(Retries.asyncBuilder(
                rig.timer,
                rig,
                (key, number) -> {
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

  /** Regression: the attempt was counted, although it never began. */
  @Test
  @Tag("promise-Retries")
  void rejectedAttemptDoesNotCountAndIsOfferedAgain() {
    rig.takes = false;
    rig.rejects = true;
    retries.add("a");
    rig.advanceMillis(1_010);
    assertThat(exhausted).isEmpty();
    assertThat(rig.errorKeys).containsExactly("Retries a", "Retries a");
    rig.takes = true;
    rig.rejects = false;
    rig.liveMillis(3_000);
    assertThat(attempts).as("still three").containsExactly("a3010", "a3030", "a3070");
    assertThat(exhausted).hasSize(1);
  }

  @Test
  void rejectionExhaustsWhenThereIsNoTimeForAnotherOffer() {
    rig.takes = false;
    rig.rejects = true;
    Retries<String> hurried = make().timeLimit(ofMillis(1_500)).build();
    hurried.add("a");
    rig.advanceMillis(1_009);
    assertThat(exhausted).isEmpty();
    rig.advanceMillis(1);
    assertThat(exhausted).containsExactly("a rejected by the test");
    assertThat(hurried.size()).isZero();
    rig.assertNothingPending();
  }

  @Test
  void rejectionAfterTheTimerIsStoppedExhausts() {
    rig.takes = false;
    rig.rejects = true;
    rig.onFire = () -> Rig.concurrently(() -> rig.timer.stop(Duration.ZERO));
    retries.add("a");
    rig.advanceMillis(10);
    assertThat(exhausted).containsExactly("a rejected by the test");
    assertThat(retries.size()).isZero();
  }

  /**
   * Regression: the executor accepted the attempt but dropped it, and the key was stuck forever.
   */
  @Test
  @Tag("promise-All")
  void droppedAttemptIsOfferedAgain() {
    failures = 0;
    rig.takes = false;
    retries.add("a");
    rig.advanceMillis(10);
    rig.takes = true;
    rig.liveMillis(1_000);
    assertThat(attempts).containsExactly("a1010");
    assertThat(retries.size()).isZero();
    rig.assertNothingPending();
  }

  @Test
  @Tag("promise-Retries")
  void offersAreAtMostAMinuteApart() {
    List<Long> offeredSeconds = new ArrayList<>();
    Retries<String> dropped =
        with(Retries.builder(
                rig.timer, task -> offeredSeconds.add(rig.nowMillis() / 1_000), this::attempt))
            .build();
    dropped.add("a");
    rig.advance(Duration.ofSeconds(250));
    assertThat(offeredSeconds).containsExactly(0L, 1L, 3L, 7L, 15L, 31L, 63L, 123L, 183L, 243L);
  }

  @Test
  void attemptThatIsOfferedTwiceRunsOnce() {
    failures = 0;
    retries.add("a");
    rig.advanceMillis(8_000);
    assertThat(rig.tasks).as("at 10, 1010, 3010 and 7010").hasSize(4);
    rig.runTasks();
    assertThat(attempts).hasSize(1);
  }

  @Test
  void attemptThatTheExecutorTakesAndRejectsRunsOnce() {
    failures = 0;
    rig.rejects = true;
    retries.add("a");
    rig.advanceMillis(10);
    rig.rejects = false;
    rig.liveMillis(2_000);
    assertThat(attempts).containsExactly("a11");
    assertThat(rig.errors).hasSize(1);
  }

  /** Regression: the timer was at its limit when the attempt failed, and this exhausted the key. */
  @Test
  @Tag("promise-All")
  void keyIsRetriedIfTheTimerIsFull() {
    Rig full = new Rig(1);
    Retries<String> limited =
        with(Retries.builder(full.timer, full, this::attempt)).maxAttempts(3).build();
    failures = 1;
    limited.add("a");
    full.onFire = full::fillUp;
    for (int i = 0; i < 30; i++) {
      full.advanceMillis(1);
      full.runTasks();
    }
    assertThat(attempts).hasSize(2);
    assertThat(exhausted).isEmpty();
    assertThat(limited.size()).isZero();
  }

  @Test
  @Tag("promise-All")
  void keyThatTheTimerRefusesIsNotTried() {
    Rig full = new Rig(1);
    Retries<String> limited = with(Retries.builder(full.timer, full, this::attempt)).build();
    full.fillUp();
    List<Boolean> seen = new ArrayList<>();
    full.onClock = () -> seen.add(limited.size() > 0);
    assertThatExceptionOfType(RejectedExecutionException.class).isThrownBy(() -> limited.add("a"));
    assertThat(limited.size()).isZero();
    assertThat(seen).as("no other thread relies on it").isNotEmpty().containsOnly(false);
    assertThat(exhausted).isEmpty();
  }

  @Test
  void abortsOnAGivenFailure() {
    Retries<String> picky =
        make().abortOn(error -> error.getMessage().startsWith("failed")).build();
    failures = 1;
    picky.add("a");
    rig.liveMillis(1_000);
    assertThat(attempts).containsExactly("a10");
    assertThat(exhausted).containsExactly("a failed 0");
  }

  @Test
  @Tag("promise-Retries")
  void abortOnAlsoReceivesTheLastFailure() {
    List<String> asked = new ArrayList<>();
    Retries<String> asking =
        make().maxAttempts(2).abortOn(error -> !asked.add(error.getMessage())).build();
    failures = 2;
    asking.add("a");
    rig.liveMillis(1_000);
    assertThat(asked).containsExactly("failed 1", "failed 0");
    assertThat(exhausted).containsExactly("a failed 0");
  }

  @Test
  void predicateThatThrowsExhausts() {
    Retries<String> bad =
        make()
            .abortOn(
                error -> {
                  throw new IllegalStateException("asked badly");
                })
            .build();
    bad.add("a");
    rig.liveMillis(1_000);
    assertThat(exhausted).containsExactly("a asked badly");
  }

  @Test
  @Tag("promise-Retries")
  void attemptThatExceedsItsLimitFails() {
    List<CompletableFuture<Void>> stages = new ArrayList<>();
    Retries<String> limited =
        with(Retries.asyncBuilder(
                rig.timer,
                rig,
                (key, number) -> {
                  attempts.add(key + number + "@" + rig.nowMillis());
                  stages.add(new CompletableFuture<>());
                  return stages.get(stages.size() - 1);
                }))
            .attemptTimeLimit(ofMillis(5))
            .maxAttempts(3)
            .build();
    limited.add("a");
    rig.liveMillis(40);
    assertThat(attempts).containsExactly("a1@10", "a2@35");
    stages.get(0).complete(null); // its outcome is ignored
    assertThat(limited.size()).isOne();
    stages.get(1).completeExceptionally(new Exception());
    rig.liveMillis(1_000);
    assertThat(attempts).containsExactly("a1@10", "a2@35", "a3@80");
    assertThat(exhausted).containsExactly("a attempt 3 took too long");
    rig.assertNothingPending();
  }

  /** The task that ends the attempt at its limit is offered again, like an attempt. */
  @Test
  void attemptTimeLimitSurvivesADroppedTask() {
    Retries<String> limited =
        with(Retries.asyncBuilder(rig.timer, rig, (key, number) -> new CompletableFuture<>()))
            .attemptTimeLimit(ofMillis(5))
            .maxAttempts(1)
            .build();
    limited.add("a");
    rig.liveMillis(14);
    rig.takes = false;
    rig.liveMillis(1);
    rig.takes = true;
    rig.liveMillis(1_000);
    assertThat(exhausted).containsExactly("a attempt 1 took too long");
  }

  /**
   * A direct executor runs attempts on the timer thread. The timer cannot end an attempt while it
   * runs there.
   */
  @Test
  @Tag("promise-Retries")
  void attemptThatReturnsAfterItsLimitFails() {
    List<String> succeeded = new ArrayList<>();
    Retries<String> direct =
        with(Retries.builder(
                rig.timer,
                Runnable::run,
                (key, number) -> {
                  attempts.add(key + number + "@" + rig.nowMillis());
                  rig.stallMillis(number == 3 ? 5 : 6);
                }))
            .attemptTimeLimit(ofMillis(5))
            .abortOn(error -> !(error instanceof TimeoutException))
            .onSuccess(succeeded::add)
            .build();
    direct.add("a");
    rig.advanceMillis(1_000);
    assertThat(attempts).containsExactly("a1@10", "a2@36", "a3@82");
    assertThat(succeeded).as("at its limit, not beyond it").containsExactly("a");
    assertThat(exhausted).isEmpty();
  }

  @Test
  @Tag("promise-Retries")
  void attemptThatThrowsAfterItsLimitTimesOut() {
    Retries<String> direct =
        with(Retries.builder(
                rig.timer,
                Runnable::run,
                (key, number) -> {
                  rig.stallMillis(6);
                  throw new Exception("late");
                }))
            .attemptTimeLimit(ofMillis(5))
            .maxAttempts(1)
            .build();
    direct.add("a");
    rig.advanceMillis(1_000);
    assertThat(exhausted).containsExactly("a attempt 1 took too long");
    assertThat(direct.size()).isZero();
    rig.assertNothingPending();
  }

  /** The executor has no thread that could end the attempt at its limit. */
  @Test
  @Tag("promise-Retries")
  void outcomeAfterTheLimitIsIgnoredEvenIfTheExecutorIsBusy() {
    List<CompletableFuture<Void>> stages = new ArrayList<>();
    Retries<String> limited =
        with(Retries.asyncBuilder(
                rig.timer,
                rig,
                (key, number) -> {
                  stages.add(new CompletableFuture<>());
                  return stages.get(stages.size() - 1);
                }))
            .attemptTimeLimit(ofMillis(5))
            .maxAttempts(2)
            .build();
    limited.add("a");
    rig.liveMillis(10);
    rig.advanceMillis(6);
    stages.get(0).complete(null);
    assertThat(limited.size()).as("has failed").isOne();
    rig.liveMillis(20);
    rig.advanceMillis(6);
    stages.get(1).completeExceptionally(new Exception("late"));
    rig.runTasks();
    assertThat(exhausted).containsExactly("a attempt 2 took too long");
    assertThat(rig.errors).isEmpty();
    rig.assertNothingPending();
  }

  @Test
  void attemptsReceiveTheirNumber() {
    List<Integer> numbers = new ArrayList<>();
    Retries<String> numbered =
        with(Retries.builder(
                rig.timer,
                rig,
                (key, number) -> {
                  numbers.add(number);
                  throw new Exception();
                }))
            .maxAttempts(3)
            .build();
    numbered.add("a");
    rig.liveMillis(1_000);
    assertThat(numbers).containsExactly(1, 2, 3);
  }

  @Test
  void successIsNotifiedAfterTheKeyIsFree() {
    List<String> succeeded = new ArrayList<>();
    Retries<String>[] self = newArray();
    self[0] =
        make().onSuccess(key -> succeeded.add(key + self[0].size() + self[0].add(key))).build();
    failures = 1;
    self[0].add("a");
    rig.liveMillis(35);
    assertThat(succeeded).containsExactly("a0true");
    assertThat(attempts).containsExactly("a10", "a30");
  }

  @Test
  void keyMayHaveADeadlineOfItsOwn() {
    Deadline deadline = Deadline.after(ofMillis(69), rig.timer.timeSource());
    retries.add("a", deadline);
    rig.liveMillis(1_000);
    assertThat(attempts).containsExactly("a10", "a30");
    assertThat(exhausted).hasSize(1);
  }

  @Test
  void schedulesNoAttemptAfterTheTimeLimit() {
    Retries<String> hurried = make().timeLimit(ofMillis(69)).build();
    hurried.add("a");
    rig.liveMillis(1_000);
    assertThat(attempts).containsExactly("a10", "a30");
    assertThat(exhausted).hasSize(1);

    Retries<String> hopeless = make().timeLimit(ofMillis(9)).build();
    hopeless.add("b");
    rig.runTasks();
    assertThat(exhausted).element(1).asString().contains("after the time limit");
    assertThat(hopeless.size()).isZero();
  }

  @Test
  void backoffThatThrowsExhausts() {
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
  void cancelFreesTheKeyAndLeavesNothing() {
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
  void outcomeOfACancelledAttemptIsIgnored() {
    CompletableFuture<Void> stage = new CompletableFuture<>();
    Retries<String> async =
        with(Retries.asyncBuilder(rig.timer, rig, (key, number) -> stage)).maxAttempts(1).build();
    async.add("a");
    rig.liveMillis(10);
    async.cancel("a");
    stage.completeExceptionally(new Exception());
    rig.liveMillis(10);
    assertThat(exhausted).isEmpty();
    rig.assertNothingPending();
  }

  @Test
  void cancelledAttemptDoesNotBegin() {
    retries.add("a");
    rig.advanceMillis(10);
    retries.cancel("a");
    rig.runTasks();
    assertThat(attempts).isEmpty();
  }

  @Test
  void onExhaustedThatThrowsAffectsNoOtherKey() {
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
  void refusesKeysOnceClosed() {
    retries.add("a");
    retries.close();
    rig.assertNothingPending();
    assertThatIllegalStateException()
        .isThrownBy(() -> retries.add("b"))
        .withMessage("the retries are closed");
    assertThat(retries.size()).isZero();
  }

  @Test
  void stoppedTimerDropsWaitingKeysAndRefusesNewOnes() {
    retries.add("a");
    rig.timer.stop();
    assertThat(retries.size()).isZero();
    assertThatIllegalStateException()
        .isThrownBy(() -> retries.add("b"))
        .withMessage("the timer is stopped");
    assertThat(retries.size()).isZero();
    rig.runTasks();
    assertThat(exhausted).isEmpty();
  }

  @Test
  void attemptThatRunsWhenTheTimerIsStoppedStillHasAnOutcome() {
    List<String> succeeded = new ArrayList<>();
    CompletableFuture<Void> stage = new CompletableFuture<>();
    Retries<String> stopping =
        with(Retries.asyncBuilder(
                rig.timer,
                rig,
                (key, number) ->
                    key.equals("good") ? stage : stage.handle((r, e) -> Integer.parseInt("no"))))
            .onSuccess(succeeded::add)
            .build();
    stopping.add("good");
    stopping.add("bad");
    rig.liveMillis(10);
    rig.timer.stop();
    stage.complete(null);
    rig.runTasks();
    assertThat(succeeded).containsExactly("good");
    assertThat(exhausted).hasSize(1).first().asString().startsWith("bad ");
    assertThat(stopping.size()).isZero();
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
        .isThrownBy(() -> Backoff.exponential(ofMillis(2), ofMillis(1)))
        .withMessage("max: PT0.001S (expected: at least first, PT0.002S)");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Backoff.exponential(Duration.ZERO, ofMillis(1)))
        .withMessage("first: PT0S (expected: more than zero)");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> make().timeLimit(ofMillis(-1)))
        .withMessage("limit: PT-0.001S (expected: more than zero)");
  }

  @Test
  @Tag("promise-Retries")
  void jitterIsARandomPartOfTheDelay() {
    Backoff half = Backoff.fixed(ofMillis(10)).withJitter(1, () -> 0.5);
    assertThat(half.delay(1)).isEqualTo(ofMillis(5));
    assertThat(half.delay(9)).isEqualTo(ofMillis(5));
    Backoff any = Backoff.fixed(ofMillis(10)).withFullJitter();
    for (int i = 1; i < 100; i++) {
      assertThat(any.delay(i)).isBetween(Duration.ZERO, ofMillis(10));
    }
  }

  @Test
  void jitterMayBeOnAPartOfTheDelay() {
    Backoff tenth = Backoff.fixed(ofMillis(10)).withJitter(0.1, () -> 0.5);
    assertThat(tenth.delay(1)).isEqualTo(Duration.ofNanos(9_500_000));
    Backoff none = Backoff.fixed(ofMillis(10)).withJitter(0);
    assertThat(none.delay(1)).isEqualTo(ofMillis(10));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> none.withJitter(-0.5))
        .withMessage("part: -0.5 (expected: from 0 to 1)");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> none.withJitter(1.5))
        .withMessage("part: 1.5 (expected: from 0 to 1)");
  }

  /** The callback receives the failure of the last attempt, or a timeout if there was none. */
  @Test
  void reportsATimeoutIfTheFirstAttemptIsTooLate() {
    List<Throwable> notified = new ArrayList<>();
    Retries<String> hopeless =
        make().timeLimit(ofMillis(1)).onExhausted((key, error) -> notified.add(error)).build();
    hopeless.add("a");
    rig.runTasks();
    assertThat(notified).hasOnlyElementsOfType(TimeoutException.class).hasSize(1);
    rig.rejects = true;
    rig.takes = false;
    hopeless.add("b");
    assertThat(notified).hasSize(2);
    assertThat(rig.errors).hasOnlyElementsOfType(RejectedExecutionException.class);
  }

  @Test
  void abortConditionMayThrowTheFailureItself() {
    RuntimeException failure = new IllegalStateException("no luck");
    Retries<String> picky =
        with(Retries.builder(
                rig.timer,
                rig,
                (String key, int attempt) -> {
                  throw failure;
                }))
            .abortOn(
                error -> {
                  throw failure;
                })
            .build();
    picky.add("a");
    rig.liveMillis(10);
    assertThat(exhausted).containsExactly("a no luck");
    assertThat(failure.getSuppressed()).isEmpty();
  }

  @Test
  void executorMayRunAnAttemptAndThenReject() {
    Executor odd =
        task -> {
          task.run();
          throw new RejectedExecutionException("too late");
        };
    failures = 0;
    Retries<String> once = with(Retries.builder(rig.timer, odd, this::attempt)).build();
    once.add("a");
    rig.liveMillis(100);
    assertThat(attempts).containsExactly("a10");
    assertThat(once.size()).isZero();
    rig.assertNothingPending();
  }
}
