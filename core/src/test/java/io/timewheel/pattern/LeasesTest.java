// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** The lease takes 120 ms, so there is a sweep every 10. */
class LeasesTest {
  private final Rig rig = new Rig();
  private final List<String> calls = new ArrayList<>();
  private final List<String> lost = new ArrayList<>();
  private final Set<String> refused = new HashSet<>();
  private RuntimeException failure;
  private Runnable during = () -> {};
  private final Leases<String> leases = make(rig).build();

  private LeasesBuilder<String> make(Rig rig) {
    return Leases.<String>builder(rig.timer, rig, ofMillis(120), keys -> renew(rig, keys))
        .onLost(key -> lost.add(key + rig.nowMillis()))
        .onError(rig.errors::add);
  }

  private Collection<String> renew(Rig rig, List<String> keys) {
    calls.add(String.join("", keys.stream().sorted().toList()) + rig.nowMillis());
    during.run();
    if (failure != null) {
      throw failure;
    }
    return keys.stream().filter(key -> !refused.contains(key)).toList();
  }

  @Test
  void isRenewedAtAThirdAtTheLatestUntilItIsReleased() {
    assertThat(leases.hold("a")).isEqualTo(1);
    rig.liveMillis(100);
    assertThat(calls).containsExactly("a30", "a60", "a90");
    assertThat(leases.release("a")).isTrue();
    rig.liveMillis(500);
    assertThat(calls).hasSize(3);
    assertThat(lost).isEmpty();
    rig.assertNothingPending();
  }

  /** The next renewal was timed from the answer, so that the real period was longer. */
  @Test
  void aSlowAnswerDoesNotLengthenThePeriod() {
    leases.hold("a");
    during = () -> rig.stallMillis(9);
    rig.liveMillis(75);
    assertThat(calls).containsExactly("a30", "a60", "a90");
  }

  @Test
  void whatIsDueByTheNextSweepIsRenewedInOneCall() {
    leases.hold("a");
    rig.liveMillis(3);
    leases.hold("b");
    leases.hold("c");
    rig.liveMillis(4);
    leases.hold("d");
    assertThat(rig.timer.pendingTimeouts()).as("one for all").isOne();
    rig.liveMillis(33);
    assertThat(calls).containsExactly("a30", "bcd40");
  }

  @Test
  void aBatchHasALimit() {
    Leases<String> small = make(rig).maxBatch(2).build();
    for (String key : List.of("a", "b", "c", "d", "e")) {
      small.hold(key);
    }
    rig.liveMillis(30);
    assertThat(calls).hasSize(3);
    assertThat(small.size()).isEqualTo(5);
  }

  /** A thrown exception stopped all renewals for ever. */
  @Test
  void aCallThatFailsIsTriedAgainAtEverySweepAndStopsNothing() {
    leases.hold("a");
    failure = new IllegalStateException("no connection");
    rig.liveMillis(55);
    assertThat(calls).containsExactly("a30", "a40", "a50");
    assertThat(rig.errorMessages()).containsOnly("no connection").hasSize(3);
    failure = null;
    rig.liveMillis(40);
    assertThat(calls).containsExactly("a30", "a40", "a50", "a60", "a90");
    assertThat(lost).isEmpty();
  }

  @Test
  void isLostWhenItsTimeIsOverAndNotBefore() {
    leases.hold("a");
    rig.liveMillis(33);
    failure = new IllegalStateException();
    rig.liveMillis(116);
    assertThat(leases.holds("a")).isOne();
    assertThat(lost).isEmpty();
    rig.liveMillis(300);
    assertThat(lost).as("120 after the renewal at 30").containsExactly("a150");
    assertThat(leases.holds("a")).isZero();
    assertThat(leases.release("a")).isFalse();
    assertThat(leases.size()).isZero();
    rig.assertNothingPending();
  }

  /** The sweeps of one are not those of the other: the end of a lease has a timeout if need be. */
  @Test
  void aLossIsNoticedAtItsTick() {
    leases.hold("other");
    rig.liveMillis(7);
    leases.hold("a");
    failure = new IllegalStateException();
    rig.liveMillis(200);
    assertThat(lost).containsExactly("other120", "a127");
  }

  @Test
  void isLostAtOnceWhenTheServerDoesNotKnowIt() {
    leases.hold("a");
    leases.hold("b");
    refused.add("a");
    rig.liveMillis(60);
    assertThat(lost).containsExactly("a30");
    assertThat(calls).containsExactly("ab30", "b60");
    assertThat(leases.hold("a")).as("may be held again").isOne();
  }

  /** A renewal could outlive its unlock. */
  @Test
  void theUnlockWaitsForTheRenewalThatIsUnderWay() {
    leases.hold("a");
    during =
        () -> {
          assertThat(leases.release("a", () -> calls.add("unlock"))).isTrue();
          assertThat(leases.size()).isZero();
          calls.add("answer");
        };
    rig.liveMillis(100);
    assertThat(calls).containsExactly("a30", "answer", "unlock");
    assertThat(lost).isEmpty();
  }

  /** Not even if the answer says that it was gone: it had been released before. */
  @Test
  void whatWasReleasedIsNotLost() {
    leases.hold("a");
    refused.add("a");
    during = () -> leases.release("a");
    rig.liveMillis(100);
    assertThat(lost).isEmpty();
    assertThat(calls).containsExactly("a30");
  }

  @Test
  void theUnlockRunsAtOnceWhenNoRenewalIsUnderWay() {
    leases.hold("a");
    leases.release("a", () -> calls.add("unlock"));
    assertThat(calls).containsExactly("unlock");
  }

  /** It is not over until long after the time of the lease that was renewed in the same call. */
  @Test
  void anUnlockThatIsSlowHarmsNoOtherOfItsCall() {
    leases.hold("a");
    leases.hold("b");
    during =
        () -> {
          during = () -> {};
          leases.release(
              "a",
              () -> {
                calls.add("unlock");
                rig.liveMillis(100);
              });
        };
    rig.liveMillis(30);
    assertThat(calls).containsExactly("ab30", "unlock", "b60", "b90", "b120");
    assertThat(lost).isEmpty();
    assertThat(leases.holds("b")).isOne();
  }

  /** All that the answer decides is decided before anybody is told. */
  @Test
  void aSlowLossHarmsNoOtherOfItsCall() {
    Leases<String> slow = make(rig).onLost(key -> rig.liveMillis(100)).build();
    slow.hold("a");
    slow.hold("b");
    slow.hold("c");
    refused.add("a");
    refused.add("c");
    rig.advanceMillis(30);
    rig.runTasks();
    assertThat(calls).startsWith("abc30", "b60", "b90", "b120");
    assertThat(slow.holds("b")).isOne();
  }

  @Test
  void anUnlockThatThrowsInsideTheRenewalHarmsNoOther() {
    leases.hold("a");
    leases.hold("b");
    during =
        () ->
            leases.release(
                "a",
                () -> {
                  throw new IllegalStateException("unlocked badly");
                });
    rig.liveMillis(60);
    assertThat(rig.errorMessages()).containsExactly("unlocked badly");
    assertThat(calls).containsExactly("ab30", "b60");
  }

  @Test
  void holdsAreCounted() {
    assertThat(leases.hold("a")).isEqualTo(1);
    assertThat(leases.hold("a")).isEqualTo(2);
    assertThat(leases.holds("a")).isEqualTo(2);
    assertThat(leases.release("a", () -> calls.add("too early"))).isFalse();
    assertThat(calls).isEmpty();
    assertThat(leases.release("a")).isTrue();
    assertThat(leases.release("a")).isFalse();
    assertThat(leases.holds("a")).isZero();
    assertThat(leases.holds("never")).isZero();
  }

  /** A call that hangs: what is not in it is renewed all the same, and it is not called twice. */
  @Test
  void aCallThatHangsHoldsUpWhatIsInItOnly() {
    leases.hold("a");
    Runnable[] hanging = {null};
    during =
        () -> {
          during = () -> {};
          leases.hold("b");
          rig.liveMillis(50);
          hanging[0] = () -> {};
        };
    rig.liveMillis(30);
    assertThat(hanging[0]).isNotNull();
    assertThat(calls).containsExactly("a30", "b60");
    rig.liveMillis(10);
    assertThat(calls).as("its age counts from the call").containsExactly("a30", "b60", "ab90");
  }

  /** Nothing runs on the executor for a while: one sweep waits there, and not one for each tick. */
  @Test
  void sweepsDoNotPileUp() {
    leases.hold("a");
    rig.advanceMillis(60);
    assertThat(rig.tasks).hasSize(1);
    rig.runTasks();
    assertThat(calls).containsExactly("a60");
  }

  @Test
  void aSweepThatTheExecutorRejectsIsLeftToTheNext() {
    leases.hold("a");
    rig.takes = false;
    rig.rejects = true;
    rig.liveMillis(45);
    assertThat(rig.errors).hasSize(4);
    rig.takes = true;
    rig.rejects = false;
    rig.liveMillis(5);
    assertThat(calls).containsExactly("a50");
  }

  @Test
  void aRenewalThatAnswersNothingAndALossThatThrowsHarmNobody() {
    Leases<String> bad =
        Leases.<String>builder(rig.timer, rig, ofMillis(120), keys -> null)
            .onLost(
                key -> {
                  lost.add(key);
                  throw new IllegalStateException("lost badly");
                })
            .onError(rig.errors::add)
            .build();
    bad.hold("a");
    bad.hold("b");
    rig.liveMillis(120);
    assertThat(lost).containsExactlyInAnyOrder("a", "b");
    assertThat(rig.errorMessages()).contains("lost badly");
    assertThat(bad.size()).isZero();
  }

  // Renewals that end later

  private final List<CompletableFuture<List<String>>> stages = new ArrayList<>();

  private Leases<String> async() {
    return Leases.<String>asyncBuilder(
            rig.timer,
            rig,
            ofMillis(120),
            keys -> {
              calls.add(String.join("", keys) + rig.nowMillis());
              stages.add(new CompletableFuture<>());
              return stages.get(stages.size() - 1);
            })
        .onLost(key -> lost.add(key + rig.nowMillis()))
        .onError(rig.errors::add)
        .build();
  }

  @Test
  void aRenewalMayEndLater() {
    Leases<String> async = async();
    async.hold("a");
    rig.liveMillis(45);
    assertThat(calls).as("one at a time").containsExactly("a30");
    stages.get(0).complete(List.of("a"));
    rig.liveMillis(25);
    assertThat(calls).as("its age counts from the call").containsExactly("a30", "a60");
    assertThat(async.release("a", () -> calls.add("unlock"))).isTrue();
    assertThat(calls).hasSize(2);
    stages.get(1).complete(List.of());
    assertThat(calls).containsExactly("a30", "a60", "unlock");
    assertThat(lost).isEmpty();
  }

  /** The first call never ends; of the lease that it holds up, onLost then takes its time. */
  @Test
  void aLossThatIsToldSlowlyDelaysNoRenewal() {
    Leases<String> slow =
        Leases.<String>asyncBuilder(
                rig.timer,
                rig,
                ofMillis(120),
                keys -> {
                  calls.add(String.join("", keys) + rig.nowMillis());
                  return new CompletableFuture<>();
                })
            .onLost(
                key -> {
                  lost.add(key + rig.nowMillis());
                  rig.stallMillis(50);
                })
            .build();
    slow.hold("a");
    rig.liveMillis(85);
    slow.hold("b");
    rig.liveMillis(40);
    assertThat(calls).containsExactly("a30", "b120");
    assertThat(lost).containsExactly("a120");
  }

  /** While the call of the same sweep hangs, another thread of the executor tells of the loss. */
  @Test
  void aCallThatHangsDelaysNoLoss() {
    failure = new IllegalStateException("no connection");
    leases.hold("a");
    rig.liveMillis(85);
    leases.hold("b");
    rig.liveMillis(34);
    List<String> lostMeanwhile = new ArrayList<>();
    during =
        () -> {
          rig.runTasks();
          lostMeanwhile.addAll(lost);
        };
    rig.liveMillis(1);
    assertThat(calls).endsWith("a110", "b120");
    assertThat(lostMeanwhile).containsExactly("a120");
  }

  @Test
  void aRenewalThatFailsLaterIsTriedAgain() {
    Leases<String> async = async();
    async.hold("a");
    rig.liveMillis(35);
    stages.get(0).completeExceptionally(new CompletionException(new Exception("no connection")));
    assertThat(rig.errorMessages()).containsExactly("no connection");
    rig.liveMillis(5);
    assertThat(calls).containsExactly("a30", "a40");
    stages.get(1).complete(List.of());
    assertThat(lost).containsExactly("a40");
  }

  @Test
  void aRenewalThatNeverEndsLosesTheLeaseAtItsTime() {
    Leases<String> async = async();
    async.hold("a");
    rig.liveMillis(200);
    assertThat(calls).containsExactly("a30");
    assertThat(lost).containsExactly("a120");
    stages.get(0).complete(List.of("a"));
    rig.liveMillis(200);
    assertThat(async.size()).isZero();
    assertThat(lost).hasSize(1);
  }

  /** Or the end of the first call would be taken for that of the second. */
  @Test
  void aStageThatEndsTwiceEndsOneRenewal() {
    List<Consumer<Throwable>> ends = new ArrayList<>();
    Leases<String> rude =
        Leases.<String>asyncBuilder(
                rig.timer,
                rig,
                ofMillis(120),
                keys ->
                    new CompletableFuture<List<String>>() {
                      @Override
                      public <U> CompletableFuture<U> thenApply(
                          Function<? super List<String>, ? extends U> function) {
                        return new CompletableFuture<>() {
                          @Override
                          public CompletableFuture<U> whenComplete(
                              BiConsumer<? super U, ? super Throwable> action) {
                            ends.add(error -> action.accept(null, error));
                            return this;
                          }
                        };
                      }
                    })
            .onError(rig.errors::add)
            .build();
    rude.hold("a");
    rig.liveMillis(30);
    ends.get(0).accept(new Exception("once"));
    rig.liveMillis(10);
    assertThat(ends).hasSize(2);
    ends.get(0).accept(new Exception("twice"));
    rude.release("a", () -> calls.add("unlock"));
    assertThat(calls).as("the second is under way").isEmpty();
    ends.get(1).accept(new Exception("the second"));
    assertThat(calls).containsExactly("unlock");
    assertThat(rig.errorMessages()).containsExactly("once", "the second");
  }

  // Refusals and the end

  /** It would be held for ever, and never renewed. */
  @Test
  void aStoppedTimerRefusesHolds() {
    leases.hold("a");
    rig.timer.stop();
    assertThatIllegalStateException().isThrownBy(() -> leases.hold("b"));
    assertThat(leases.holds("b")).isZero();
    assertThatIllegalStateException().isThrownBy(() -> leases.hold("a"));
    assertThat(leases.holds("a")).isOne();
  }

  /** The call is under way when the leases are closed. */
  @Test
  void nobodyIsToldOfALossAfterTheClose() {
    leases.hold("a");
    refused.add("a");
    during = leases::close;
    rig.liveMillis(40);
    assertThat(calls).containsExactly("a30");
    assertThat(lost).isEmpty();
    assertThat(leases.release("a")).isTrue();
  }

  @Test
  void whatTheTimerRefusesIsNotHeld() {
    Rig full = new Rig(1);
    Leases<String> limited = make(full).build();
    full.timer.newTimeout(timeout -> {}, ofMillis(5));
    assertThatExceptionOfType(RejectedExecutionException.class).isThrownBy(() -> limited.hold("a"));
    assertThat(limited.size()).isZero();
    full.advanceMillis(5);
    assertThat(limited.hold("a")).isOne();
  }

  @Test
  void aSweepThatCouldNotBeFiledIsFiledByTheOneBefore() {
    Rig full = new Rig(1);
    Leases<String> limited = make(full).build();
    limited.hold("a");
    full.onFire =
        () -> {
          full.onFire = () -> {};
          full.timer.newTimeout(timeout -> {}, ofMillis(1)); // takes the place
        };
    full.advanceMillis(15);
    assertThat(full.errors).hasOnlyElementsOfType(RejectedExecutionException.class).hasSize(1);
    full.liveMillis(100);
    assertThat(calls).isNotEmpty();
    assertThat(lost).isEmpty();
  }

  @Test
  void theEnd() {
    leases.hold("a");
    rig.advanceMillis(30);
    leases.close();
    rig.assertNothingPending();
    rig.liveMillis(300);
    assertThat(calls).as("not even what the executor had").isEmpty();
    assertThat(leases.release("a", () -> calls.add("unlock"))).isTrue();
    assertThat(calls).containsExactly("unlock");
    assertThatIllegalStateException()
        .isThrownBy(() -> leases.hold("b"))
        .withMessage("the leases are closed");
    assertThat(leases.size()).isZero();
    assertThat(lost).isEmpty();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Leases.builder(rig.timer, rig, ofMillis(0), (List<String> k) -> k))
        .withMessage("lease: PT0S (expected: more than zero)");
  }
}
