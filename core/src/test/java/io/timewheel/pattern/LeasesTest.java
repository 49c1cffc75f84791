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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A lease lasts 120 ms, so there is a sweep every 10 ms. */
@SuppressWarnings("FutureReturnValueIgnored") // most tests ignore when the unlock runs
class LeasesTest {
  private final Rig rig = new Rig();
  private final List<String> calls = new ArrayList<>();
  private final List<String> lost = new ArrayList<>();
  private final Set<String> refused = new HashSet<>();
  private RuntimeException failure;
  private Runnable during = () -> {};
  private final Leases<String> leases = make(rig).build();

  /** Verifies that the timeout is still pending and not due. */
  private void assertNothingFires() {
    rig.advanceMillis(20);
    long expired = rig.timer.stats().expired();
    rig.advanceMillis(1_000_000);
    assertThat(rig.timer.stats().expired()).isEqualTo(expired);
    assertThat(rig.timer.pendingTimeouts()).isOne();
  }

  private Leases.Builder<String> make(Rig rig) {
    return Leases.<String>builder(rig.timer, rig, ofMillis(120), keys -> renew(rig, keys))
        .onLost((key, how) -> lost.add(key + rig.nowMillis()))
        .onError(rig::error);
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
  @Tag("promise-Leases")
  void renewsWithinAThirdUntilReleased() {
    assertThat(leases.hold("a")).isEqualTo(1);
    rig.liveMillis(100);
    assertThat(calls).containsExactly("a30", "a60", "a90");
    assertThat(leases.release("a")).isTrue();
    rig.liveMillis(500);
    assertThat(calls).hasSize(3);
    assertThat(lost).isEmpty();
    assertNothingFires();
  }

  /** Regression: the next renewal was timed from the answer, so the real period was longer. */
  @Test
  @Tag("promise-Leases")
  void slowAnswerDoesNotLengthenThePeriod() {
    leases.hold("a");
    during = () -> rig.stallMillis(9);
    rig.liveMillis(75);
    assertThat(calls).containsExactly("a30", "a60", "a90");
  }

  @Test
  void renewsAllLeasesDueByTheNextSweepInOneCall() {
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
  void batchHasALimit() {
    Leases<String> small = make(rig).maxBatch(2).build();
    for (String key : List.of("a", "b", "c", "d", "e")) {
      small.hold(key);
    }
    rig.liveMillis(30);
    assertThat(calls).hasSize(3);
    assertThat(small.size()).isEqualTo(5);
  }

  /** Regression: an exception stopped all further renewals. */
  @Test
  @Tag("promise-Leases")
  void failedCallIsRetriedAtEverySweep() {
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
  @Tag("promise-Leases")
  void losesALeaseWhenItExpiresAndNotBefore() {
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
    assertNothingFires();
  }

  /** The expiry of a lease may lie between two sweeps. The next sweep then runs at the expiry. */
  @Test
  void lossIsNoticedAtItsTick() {
    leases.hold("other");
    rig.liveMillis(7);
    leases.hold("a");
    failure = new IllegalStateException();
    rig.liveMillis(200);
    assertThat(lost).containsExactly("other120", "a127");
  }

  @Test
  @Tag("promise-Leases")
  void losesALeaseThatTheServerRefuses() {
    leases.hold("a");
    leases.hold("b");
    refused.add("a");
    rig.liveMillis(60);
    assertThat(lost).containsExactly("a30");
    assertThat(calls).containsExactly("ab30", "b60");
    assertThat(leases.hold("a")).as("may be held again").isOne();
  }

  /** Regression: a renewal could still be in progress after the unlock. */
  @Test
  @Tag("promise-Leases")
  void unlockWaitsForTheRenewalInProgress() {
    leases.hold("a");
    during =
        () -> {
          assertThat(leases.release("a", () -> calls.add("unlock"))).isNotDone();
          assertThat(leases.size()).isZero();
          calls.add("answer");
        };
    rig.liveMillis(100);
    assertThat(calls).containsExactly("a30", "answer", "unlock");
    assertThat(lost).isEmpty();
  }

  /** The answer reports the lease as lost, but it was released before. */
  @Test
  void releasedLeaseIsNotLost() {
    leases.hold("a");
    refused.add("a");
    during = () -> leases.release("a");
    rig.liveMillis(100);
    assertThat(lost).isEmpty();
    assertThat(calls).containsExactly("a30");
  }

  @Test
  void unlockRunsAtOnceIfNoRenewalIsInProgress() {
    leases.hold("a");
    leases.release("a", () -> calls.add("unlock"));
    assertThat(calls).containsExactly("unlock");
  }

  /** The unlock ends long after the time of the lease that was renewed in the same call. */
  @Test
  @Tag("promise-Leases")
  void slowUnlockDelaysNoRenewalOfItsCall() {
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

  /** The call ends for all its leases before any callback runs. */
  @Test
  void slowLossDelaysNoRenewalOfItsCall() {
    Leases<String> slow = make(rig).onLost((key, how) -> rig.liveMillis(100)).build();
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
  void delayedUnlockThatThrowsIsReported() {
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
  void countsHolds() {
    assertThat(leases.hold("a")).isEqualTo(1);
    assertThat(leases.hold("a")).isEqualTo(2);
    assertThat(leases.holds("a")).isEqualTo(2);
    assertThat(leases.release("a", () -> calls.add("too early"))).isCompletedWithValue(false);
    assertThat(calls).isEmpty();
    assertThat(leases.release("a")).isTrue();
    assertThat(leases.release("a")).isFalse();
    assertThat(leases.holds("a")).isZero();
    assertThat(leases.holds("never")).isZero();
  }

  /** If a call hangs, leases of other calls are still renewed, and the call is not repeated. */
  @Test
  void callThatHangsDelaysOnlyItsOwnLeases() {
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

  @Test
  void sweepThatTheExecutorRejectsIsLeftToTheNext() {
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
  @Tag("promise-All")
  void survivesARenewalThatReturnsNullAndALossThatThrows() {
    Leases<String> bad =
        Leases.<String>builder(rig.timer, rig, ofMillis(120), keys -> null)
            .onLost(
                (key, how) -> {
                  lost.add(key);
                  throw new IllegalStateException("lost badly");
                })
            .onError(rig::error)
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
        .onLost((key, how) -> lost.add(key + rig.nowMillis()))
        .onError(rig::error)
        .build();
  }

  @Test
  void renewalMayEndLater() {
    Leases<String> async = async();
    async.hold("a");
    rig.liveMillis(45);
    assertThat(calls).as("one at a time").containsExactly("a30");
    stages.get(0).complete(List.of("a"));
    rig.liveMillis(25);
    assertThat(calls).as("its age counts from the call").containsExactly("a30", "a60");
    CompletableFuture<Boolean> released = async.release("a", () -> calls.add("unlock"));
    assertThat(calls).hasSize(2);
    stages.get(1).complete(List.of());
    assertThat(released).isNotDone();
    rig.runTasks();
    assertThat(released).isCompletedWithValue(true);
    assertThat(calls).containsExactly("a30", "a60", "unlock");
    assertThat(lost).isEmpty();
  }

  /** The first call never ends. The onLost callback for its lease is slow. */
  @Test
  @Tag("promise-Leases")
  void slowLossCallbackDelaysNoRenewal() {
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
                (key, how) -> {
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

  /** While the call of the same sweep hangs, another thread of the executor notifies the loss. */
  @Test
  @Tag("promise-Leases")
  void callThatHangsDelaysNoLoss() {
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
  void renewalThatFailsLaterIsTriedAgain() {
    Leases<String> async = async();
    async.hold("a");
    rig.liveMillis(35);
    stages.get(0).completeExceptionally(new CompletionException(new Exception("no connection")));
    assertThat(rig.errorMessages()).containsExactly("no connection");
    rig.liveMillis(5);
    assertThat(calls).containsExactly("a30", "a40");
    stages.get(1).complete(List.of());
    rig.runTasks();
    assertThat(lost).containsExactly("a40");
  }

  @Test
  void renewalThatNeverEndsLosesTheLeaseAtItsTime() {
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

  /** Otherwise, the end of the first call would count as that of the second. */
  @Test
  void stageThatEndsTwiceEndsOneRenewal() {
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
            .onError(rig::error)
            .build();
    rude.hold("a");
    rig.liveMillis(30);
    ends.get(0).accept(new Exception("once"));
    rig.liveMillis(10);
    assertThat(ends).hasSize(2);
    ends.get(0).accept(new Exception("twice"));
    rude.release("a", () -> calls.add("unlock"));
    assertThat(calls).as("the second is in progress").isEmpty();
    ends.get(1).accept(new Exception("the second"));
    rig.runTasks();
    assertThat(calls).containsExactly("unlock");
    assertThat(rig.errorMessages()).containsExactly("once", "the second");
  }

  // Refusals and the end

  /** Otherwise, the lease would be held forever and never renewed. */
  @Test
  void stoppedTimerRefusesHolds() {
    leases.hold("a");
    rig.timer.stop();
    assertThatIllegalStateException().isThrownBy(() -> leases.hold("b"));
    assertThat(leases.holds("b")).isZero();
    assertThatIllegalStateException().isThrownBy(() -> leases.hold("a"));
    assertThat(leases.holds("a")).isOne();
  }

  /** The call is in progress when the leases are closed. */
  @Test
  void reportsNoLossAfterClose() {
    leases.hold("a");
    refused.add("a");
    during = leases::close;
    rig.liveMillis(40);
    assertThat(calls).containsExactly("a30");
    assertThat(lost).isEmpty();
    assertThat(leases.release("a")).isTrue();
  }

  @Test
  void countsAsOnePendingTimeoutUntilClosed() {
    Rig full = new Rig(1);
    Leases<String> limited = make(full).build();
    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> make(full).build());
    assertThat(limited.hold("a")).isOne();
    assertThat(limited.hold("b")).isOne();
    limited.close();
    full.assertNothingPending();
  }

  /**
   * Regression: the sweep left the timer and was then refused, so leases were no longer renewed.
   */
  @Test
  @Tag("promise-All")
  void renewsIfTheTimerIsFull() {
    Rig full = new Rig(1);
    Leases<String> limited = make(full).build();
    limited.hold("a");
    full.onFire = full::fillUp;
    for (int i = 0; i < 100; i++) {
      full.advanceMillis(1);
      full.runTasks();
    }
    assertThat(calls).hasSize(3);
    assertThat(lost).isEmpty();
    assertThat(full.errors).isEmpty();
  }

  /**
   * Regression: while the timer was full, one hold was refused after another hold had relied on its
   * timeout.
   */
  @Test
  @Tag("promise-All")
  void holdsWhileTheTimerIsFullAreAllRenewed() {
    Rig full = new Rig(2);
    Leases<String> limited = make(full).build();
    limited.hold("a");
    limited.release("a");
    full.advanceMillis(50);
    full.fillUp();
    limited.hold("b");
    limited.hold("c");
    full.liveMillis(30);
    assertThat(calls).hasSize(1).first().asString().startsWith("bc");
  }

  /**
   * Regression: the executor accepted the sweep but dropped it, and leases were no longer renewed.
   */
  @Test
  @Tag("promise-All")
  void droppedSweepDoesNotStopLaterOnes() {
    leases.hold("a");
    rig.takes = false;
    rig.liveMillis(10);
    rig.takes = true;
    rig.liveMillis(80);
    assertThat(calls).containsExactly("a30", "a60", "a90");
  }

  @Test
  void busyExecutorIsOfferedFewSweeps() {
    leases.hold("a");
    rig.advanceMillis(1_000);
    assertThat(rig.tasks).as("at 1, 2, 3, 5, 9, 17, 33 and 65 sweeps").hasSize(8);
    rig.runTasks();
    assertThat(lost).containsExactly("a1000");
  }

  /**
   * The release happens at each clock reading in turn. Regression: the lease was marked as part of
   * the previous call.
   */
  @Test
  @Tag("promise-Leases")
  void noRenewalBeginsAfterARelease() {
    for (int reading = 1; reading < 20; reading++) {
      Rig fresh = new Rig();
      List<String> events = new ArrayList<>();
      Leases<String> own =
          Leases.<String>builder(
                  fresh.timer,
                  fresh,
                  ofMillis(120),
                  keys -> {
                    events.addAll(keys);
                    return keys;
                  })
              .build();
      own.hold("a");
      own.hold("b");
      fresh.liveMillis(29);
      fresh.advanceMillis(1);
      int[] left = {reading};
      fresh.onClock =
          () -> {
            if (--left[0] == 0) {
              own.release("a");
              events.add("released");
            }
          };
      fresh.runTasks();
      if (events.contains("released")) {
        assertThat(events.subList(events.indexOf("released"), events.size()))
            .as("at reading " + reading)
            .doesNotContain("a");
      }
      assertThat(events).contains("b");
    }
  }

  /**
   * Each notification is a separate task, so another thread of the executor runs the second one.
   */
  @Test
  @Tag("promise-Leases")
  void slowLossDelaysNoOtherLoss() {
    List<String> notified = new ArrayList<>();
    Leases<String> slow =
        make(rig)
            .onLost(
                (key, how) -> {
                  rig.runTasks(); // as other threads do while this one is blocked
                  notified.add(key);
                })
            .build();
    slow.hold("a");
    slow.hold("b");
    refused.addAll(List.of("a", "b"));
    rig.liveMillis(29);
    rig.advanceMillis(1);
    rig.tasks.remove().run();
    assertThat(notified).isEmpty();
    assertThat(rig.tasks).hasSize(2);
    rig.runTasks();
    assertThat(notified).containsExactly("b", "a");
  }

  @Test
  @Tag("promise-Leases")
  void slowUnlockDelaysNoOtherUnlock() {
    leases.hold("a");
    leases.hold("b");
    during =
        () -> {
          leases.release(
              "a",
              () -> {
                rig.runTasks(); // as other threads do while this one is blocked
                calls.add("unlock a");
              });
          leases.release("b", () -> calls.add("unlock b"));
        };
    rig.liveMillis(30);
    assertThat(calls).hasSize(3).contains("unlock a");
    assertThat(calls.indexOf("unlock b")).isLessThan(calls.indexOf("unlock a"));
  }

  @Test
  void lossContainsTheReason() {
    List<String> how = new ArrayList<>();
    Leases<String> telling = make(rig).onLost((key, loss) -> how.add(key + " " + loss)).build();
    telling.hold("a");
    telling.hold("b");
    refused.add("a");
    rig.liveMillis(30);
    failure = new IllegalStateException();
    rig.liveMillis(150);
    assertThat(how).containsExactly("a REFUSED", "b OVER");
  }

  @Test
  void releaseReportsThatTheUnlockFailed() {
    leases.hold("a");
    CompletableFuture<Boolean> released =
        leases.release(
            "a",
            () -> {
              throw new IllegalStateException("unlocked badly");
            });
    assertThat(released).isCompletedExceptionally();
    assertThat(rig.errorMessages()).containsExactly("unlocked badly");
    assertThat(rig.errorKeys).containsExactly("Leases a");
  }

  @Test
  void handlerReceivesTheKeysOfAFailedCall() {
    leases.hold("a");
    failure = new IllegalStateException();
    rig.liveMillis(30);
    leases.hold("b");
    rig.liveMillis(30);
    assertThat(rig.errorKeys).startsWith("Leases a").endsWith("Leases [a, b]");
  }

  @Test
  void perKeyRenewalsDoNotWaitForEachOther() {
    List<CompletableFuture<Boolean>> answers = new ArrayList<>();
    Leases.Builder<String> builder =
        Leases.<String>perKeyBuilder(
                rig.timer,
                rig,
                ofMillis(120),
                key -> {
                  calls.add(key + rig.nowMillis());
                  answers.add(new CompletableFuture<>());
                  return answers.get(answers.size() - 1);
                })
            .onLost((key, how) -> lost.add(key + how));
    Leases<String> perKey = builder.build();
    perKey.hold("a");
    perKey.hold("b");
    perKey.hold("c");
    rig.liveMillis(30);
    assertThat(calls).containsExactlyInAnyOrder("a30", "b30", "c30");
    String refusedKey = calls.get(0).substring(0, 1);
    String renewedKey = calls.get(1).substring(0, 1);
    answers.get(0).complete(false);
    answers.get(1).complete(true);
    rig.liveMillis(30);
    assertThat(lost).containsExactly(refusedKey + "REFUSED");
    assertThat(calls).hasSize(4).endsWith(renewedKey + "60");
    assertThatIllegalStateException().isThrownBy(() -> builder.maxBatch(2));
  }

  @Test
  void closeCancelsEverything() {
    leases.hold("a");
    rig.advanceMillis(30);
    leases.close();
    rig.assertNothingPending();
    rig.liveMillis(300);
    assertThat(calls).as("not even what the executor had").isEmpty();
    assertThat(leases.release("a", () -> calls.add("unlock"))).isCompletedWithValue(true);
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

  @Test
  void closeDuringOneCallSkipsTheNext() {
    Leases<String> small =
        Leases.<String>builder(rig.timer, Runnable::run, ofMillis(120), keys -> renew(rig, keys))
            .maxBatch(1)
            .build();
    during = small::close;
    small.hold("a");
    small.hold("b");
    rig.liveMillis(30);
    assertThat(calls).hasSize(1);
  }

  @Test
  void closeBeforeALossIsReportedSkipsTheReport() {
    leases.hold("a");
    rig.advanceMillis(130);
    rig.advanceMillis(10);
    assertThat(rig.tasks).isNotEmpty();
    leases.close();
    rig.runTasks();
    assertThat(lost).isEmpty();
  }
}
