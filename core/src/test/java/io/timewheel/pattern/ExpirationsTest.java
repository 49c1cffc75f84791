// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.timewheel.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ExpirationsTest {
  private final Rig rig = new Rig();
  private final List<String> expired = new ArrayList<>();
  private final Expirations<String, Integer> expirations = make(rig).build();

  private ExpirationsBuilder<String, Integer> make(Rig rig) {
    return Expirations.builder(rig.timer, (String key, Integer value) -> record(key, value))
        .executor(rig)
        .onError(rig.errors::add);
  }

  private void record(String key, Integer value) {
    expired.add(key + value);
    if (value < 0) {
      throw new IllegalStateException("expired badly");
    }
  }

  @Test
  void whatIsNotCompletedInTimeExpiresOnTheExecutor() {
    assertThat(expirations.add("a", 1, ofMillis(10))).isTrue();
    assertThat(expirations.add("b", 2, ofMillis(20))).isTrue();
    assertThat(expirations.add("c", 3, ofMillis(20))).isTrue();

    rig.advanceMillis(9);
    assertThat(rig.tasks).isEmpty();
    rig.advanceMillis(1);
    assertThat(rig.tasks).hasSize(1);
    assertThat(expired).as("not on the clock's thread").isEmpty();
    rig.runTasks();
    assertThat(expired).containsExactly("a1");

    assertThat(expirations.complete("b")).isEqualTo(2);
    assertThat(expirations.complete("b")).isNull();
    assertThat(expirations.complete("a")).isNull();
    rig.liveMillis(100);
    assertThat(expired).containsExactly("a1", "c3");
    assertThat(expirations.size()).isZero();
    assertThat(rig.errors).isEmpty();
  }

  @Test
  void aKeyIsTakenUntilItsValueIsSettled() {
    expirations.add("a", 1, ofMillis(10));
    assertThat(expirations.add("a", 2, ofMillis(10))).isFalse();
    assertThat(rig.timer.pendingTimeouts()).isEqualTo(1);

    rig.advanceMillis(10);
    assertThat(expirations.add("a", 3, ofMillis(10))).isTrue();
    assertThat(expirations.complete("a")).isEqualTo(3);
    rig.assertNothingPending();
  }

  /** Cancelled timeouts must not stay in memory, with all that they refer to. */
  @Test
  void whatIsCompletedLeavesNothingInTheTimer() {
    expirations.add("a", 1, Duration.ofDays(1));
    expirations.complete("a");
    rig.assertNothingPending();
  }

  @Test
  void touchingPostponesWithoutTheTimer() {
    expirations.add("a", 1, ofMillis(10));
    for (int i = 0; i < 9; i++) {
      rig.liveMillis(1);
      assertThat(expirations.touch("a")).isTrue();
    }
    assertThat(rig.timer.stats().started()).as("one is the clock's origin").isEqualTo(2);

    rig.liveMillis(9);
    assertThat(expired).as("touched at 9, so due at 19").isEmpty();
    assertThat(rig.timer.stats().started()).as("filed anew once").isEqualTo(3);
    rig.liveMillis(1);
    assertThat(expired).containsExactly("a1");
    assertThat(expirations.touch("a")).isFalse();
  }

  @Test
  void whatIsTouchedForEverNeverExpiresAndCanBeCompleted() {
    expirations.add("a", 1, ofMillis(10));
    for (int i = 0; i < 100; i++) {
      rig.liveMillis(7);
      expirations.touch("a");
    }
    assertThat(expired).isEmpty();
    assertThat(expirations.complete("a")).isEqualTo(1);
    rig.assertNothingPending();
  }

  /**
   * It is filed anew by the thread that it fires on before the one that adds it has its timeout.
   */
  @Test
  void whatFiresBeforeItsTimeoutIsThereIsStillSettledInTheEnd() {
    rig.onStart =
        () -> {
          rig.onStart = () -> {};
          rig.stallMillis(10);
          expirations.touch("a");
          rig.timer.poll();
        };
    expirations.add("a", 1, ofMillis(10));
    assertThat(rig.timer.pendingTimeouts()).as("filed anew").isOne();
    assertThat(expirations.complete("a")).isEqualTo(1);
    rig.assertNothingPending();

    rig.fireAtOnceAfterMillis(10);
    assertThat(expirations.add("b", 2, ofMillis(10))).isTrue();
    rig.runTasks();
    assertThat(expired).containsExactly("b2");
    rig.assertNothingPending();
  }

  @Test
  void aTouchThatComesBeforeALateClockIsInTime() {
    expirations.add("a", 1, ofMillis(10));
    rig.stallMillis(15);
    assertThat(expirations.touch("a")).isTrue();

    rig.liveMillis(9);
    assertThat(expired).isEmpty();
    rig.liveMillis(1);
    assertThat(expired).containsExactly("a1");
  }

  @Test
  void replacingGivesBackTheFormerValueWhichDoesNotExpire() {
    assertThat(expirations.replace("a", 1, ofMillis(10))).isNull();
    assertThat(expirations.replace("a", 2, ofMillis(20))).isEqualTo(1);
    assertThat(rig.timer.pendingTimeouts()).isEqualTo(1);

    rig.liveMillis(19);
    assertThat(expired).isEmpty();
    rig.liveMillis(1);
    assertThat(expired).containsExactly("a2");
  }

  @Test
  void failAllTakesWhatFulfilsTheCondition() {
    expirations.add("a", 1, ofMillis(10));
    expirations.add("b", 2, ofMillis(10));
    expirations.add("c", 3, ofMillis(10));

    assertThat(expirations.failAll((key, value) -> value != 2))
        .containsExactlyInAnyOrder(Map.entry("a", 1), Map.entry("c", 3));
    assertThat(rig.timer.pendingTimeouts()).isEqualTo(1);
    assertThat(expirations.failAll()).containsExactly(Map.entry("b", 2));
    rig.liveMillis(20);
    assertThat(expired).isEmpty();
  }

  /** Or those taken before it threw were neither returned nor told of. */
  @Test
  void aConditionThatThrowsTakesNothing() {
    expirations.add("a", 1, ofMillis(10));
    expirations.add("b", 2, ofMillis(10));
    AtomicInteger calls = new AtomicInteger();

    assertThatIllegalStateException()
        .isThrownBy(
            () ->
                expirations.failAll(
                    (key, value) -> {
                      if (calls.incrementAndGet() == 2) {
                        throw new IllegalStateException();
                      }
                      return true;
                    }));

    assertThat(expirations.size()).isEqualTo(2);
    rig.liveMillis(10);
    assertThat(expired).hasSize(2);
  }

  @Test
  void oldestIsTheOneNeitherAddedNorTouchedForLongest() {
    assertThat(expirations.oldest()).isEmpty();
    expirations.add("a", 1, ofMillis(100));
    rig.advanceMillis(5);
    expirations.add("b", 2, ofMillis(100));
    rig.advanceMillis(5);
    assertThat(expirations.oldest()).contains(ofMillis(10));
    expirations.touch("a");
    assertThat(expirations.oldest()).contains(ofMillis(5));
  }

  @Test
  void zeroAndLessIsTheNextTickAndMuchIsNever() {
    expirations.add("a", 1, ofMillis(0));
    expirations.add("b", 2, Duration.ofSeconds(Long.MIN_VALUE));
    expirations.add("c", 3, Duration.ofSeconds(Long.MAX_VALUE));
    rig.advanceMillis(1_000_000);
    expirations.touch("c");
    rig.liveMillis(1);
    assertThat(expired).containsExactlyInAnyOrder("a1", "b2");
    assertThat(expirations.size()).isOne();
  }

  // The hand-off

  @Test
  void aListenerThatThrowsKeepsNothingFromTheOthers() {
    expirations.add("a", -1, ofMillis(10));
    expirations.add("b", 2, ofMillis(10));
    rig.liveMillis(20);
    assertThat(expired).containsExactlyInAnyOrder("a-1", "b2");
    assertThat(rig.errorMessages()).containsExactly("expired badly");
  }

  @Test
  void batchesHoldAllThatExpiredUpToTheirLimit() {
    List<List<Map.Entry<Integer, String>>> batches = new ArrayList<>();
    Expirations<Integer, String> inBatches =
        Expirations.<Integer, String>builder(rig.timer, 3, batches::add).executor(rig).build();
    for (int i = 0; i < 5; i++) {
      inBatches.add(i, "v", ofMillis(10));
    }
    rig.liveMillis(10);
    assertThat(batches).extracting(List::size).containsExactly(3, 2);
    assertThat(batches.stream().flatMap(List::stream))
        .containsExactlyInAnyOrder(
            Map.entry(0, "v"),
            Map.entry(1, "v"),
            Map.entry(2, "v"),
            Map.entry(3, "v"),
            Map.entry(4, "v"));
  }

  @Test
  void whatDoesNotFitRunsOnTheClocksThread() {
    Expirations<String, Integer> small = make(rig).capacity(2).build();
    for (int i = 0; i < 5; i++) {
      small.add("k", i, ofMillis(10));
      small.complete("k");
      small.add("k" + i, i, ofMillis(10));
    }
    rig.advanceMillis(10);
    assertThat(expired).hasSize(3);
    rig.runTasks();
    assertThat(expired).hasSize(5).doesNotHaveDuplicates();
  }

  @Test
  void whatDoesNotFitGoesToTheOverflowListener() {
    List<Map.Entry<String, Integer>> overflow = new ArrayList<>();
    Expirations<String, Integer> small = make(rig).capacity(1).onOverflow(overflow::addAll).build();
    small.add("a", 1, ofMillis(10));
    small.add("b", 2, ofMillis(11));
    rig.advanceMillis(20);
    assertThat(overflow).containsExactly(Map.entry("b", 2));
    rig.runTasks();
    assertThat(expired).containsExactly("a1");
  }

  /** One entry is with the listener, one in the queue, and the timer's thread has the third. */
  @Test
  void theTimersThreadWaitsForRoomIfItIsToldTo() throws InterruptedException {
    Blocked blocked = new Blocked();
    Thread clock = blocked.expire(3);
    Await.until("the clock to wait", () -> clock.getState() == Thread.State.WAITING);
    blocked.letGo.countDown();
    clock.join();
    Await.until("all to be told", () -> blocked.toldOn.size() == 3);
    assertThat(blocked.toldOn).doesNotContain(clock);
    assertThat(blocked.overflow).isEmpty();
  }

  /** A timer that is stopped, and has lost its patience, interrupts its thread. */
  @Test
  void anInterruptEndsTheWaitForRoomAndLosesNothing() throws InterruptedException {
    Blocked blocked = new Blocked();
    Thread clock = blocked.expire(3);
    Await.until("the clock to wait", () -> clock.getState() == Thread.State.WAITING);
    clock.interrupt();
    clock.join();
    assertThat(blocked.overflow).hasSize(1);
    assertThat(blocked.interruptedAfterwards).isTrue();
    blocked.letGo.countDown();
    Await.until("the others to be told", () -> blocked.toldOn.size() == 2);
  }

  /** The caller may be the listener, which would wait for itself. */
  @Test
  void whoIsRefusedAReplacementDoesNotWaitForRoom() {
    List<Map.Entry<String, Integer>> overflow = new ArrayList<>();
    Expirations<String, Integer> small =
        make(rig).capacity(1).blockOnOverflow().onOverflow(overflow::addAll).build();
    small.add("a", 1, ofMillis(10));
    small.add("b", 2, ofMillis(20));
    rig.advanceMillis(10);
    rig.timer.stop();
    Queue<Throwable> refusals = new ConcurrentLinkedQueue<>();
    Thread caller =
        new Thread(
            () -> {
              try {
                small.replace("b", 3, ofMillis(10));
              } catch (IllegalStateException e) {
                refusals.add(e);
              }
            });
    caller.setDaemon(true);
    caller.start();
    Await.until("the caller to return", () -> !caller.isAlive());
    assertThat(refusals).hasSize(1);
    assertThat(overflow).containsExactly(Map.entry("b", 2));
    rig.runTasks();
    assertThat(expired).containsExactly("a1");
  }

  /** Expirations with room for one, whose timer waits, and a listener that waits to be let go. */
  private final class Blocked {
    final CountDownLatch letGo = new CountDownLatch(1);
    final Queue<Thread> toldOn = new ConcurrentLinkedQueue<>();
    final Queue<Map.Entry<String, Integer>> overflow = new ConcurrentLinkedQueue<>();
    private final CountDownLatch inListener = new CountDownLatch(1);
    private final Expirations<String, Integer> waiting =
        Expirations.builder(rig.timer, this::told)
            .capacity(1)
            .blockOnOverflow()
            .onOverflow(overflow::addAll)
            .build();
    volatile boolean interruptedAfterwards;

    private void told(String key, Integer value) {
      inListener.countDown();
      try {
        letGo.await();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
      toldOn.add(Thread.currentThread());
    }

    /** The first entry gets to the listener before the next one comes. */
    Thread expire(int entries) throws InterruptedException {
      waiting.add("first", 0, ofMillis(1));
      rig.advanceMillis(1);
      assertThat(inListener.await(60, TimeUnit.SECONDS)).isTrue();
      for (int i = 1; i < entries; i++) {
        waiting.add("next" + i, i, ofMillis(1));
      }
      Thread clock =
          new Thread(
              () -> {
                rig.advanceMillis(1);
                interruptedAfterwards = Thread.currentThread().isInterrupted();
              });
      clock.start();
      return clock;
    }
  }

  @Test
  void whatTheExecutorRejectsIsNotLost() {
    rig.takes = false;
    rig.rejects = true;
    expirations.add("a", 1, ofMillis(10));
    rig.advanceMillis(10);
    assertThat(expired).containsExactly("a1");
    assertThat(rig.errorMessages()).containsExactly("rejected by the test");

    rig.takes = true;
    rig.rejects = false;
    expirations.add("b", 2, ofMillis(10));
    rig.liveMillis(10);
    assertThat(expired).containsExactly("a1", "b2");
  }

  @Test
  void whatTheExecutorTakesAndRejectsIsToldOnce() {
    rig.rejects = true;
    expirations.add("a", 1, ofMillis(10));
    rig.advanceMillis(10);
    rig.runTasks();
    assertThat(expired).containsExactly("a1");
  }

  @Test
  void aHandlerThatThrowsHarmsNobody() {
    Expirations<String, Integer> bad =
        make(rig)
            .onError(
                error -> {
                  throw new IllegalStateException("expected in the log of this test", error);
                })
            .build();
    bad.add("a", -1, ofMillis(10));
    bad.add("b", 2, ofMillis(10));
    rig.liveMillis(10);
    assertThat(expired).hasSize(2);
  }

  /** Without an executor there is a thread, a daemon, and the listener may block it. */
  @Test
  void ownThreadRunsTheListenerWhileTheClockGoesOn() throws InterruptedException {
    CountDownLatch letGo = new CountDownLatch(1);
    CountDownLatch done = new CountDownLatch(2);
    Queue<Thread> threads = new ConcurrentLinkedQueue<>();
    Expirations<String, Integer> own =
        Expirations.builder(
                rig.timer,
                (String key, Integer value) -> {
                  try {
                    letGo.await();
                  } catch (InterruptedException e) {
                    throw new AssertionError(e);
                  }
                  threads.add(Thread.currentThread());
                  done.countDown();
                })
            .build();
    own.add("a", 1, ofMillis(10));
    own.add("b", 2, ofMillis(20));
    rig.advanceMillis(20);
    assertThat(own.size()).as("both expired, though the listener is blocked").isZero();
    letGo.countDown();
    assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
    assertThat(threads).allMatch(Thread::isDaemon).doesNotContain(Thread.currentThread());
    assertThat(threads)
        .extracting(Thread::getName)
        .containsExactly("timewheel-expirations", "timewheel-expirations");
  }

  // Refusals and the end

  /** An exception between map and timer must not leave an entry that nothing removes. */
  @Test
  void whatTheTimerRefusesIsNotThere() {
    Rig full = new Rig(1);
    Expirations<String, Integer> limited = make(full).build();
    limited.add("a", 1, ofMillis(10));

    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> limited.add("b", 2, ofMillis(10)));
    assertThat(limited.size()).isOne();
    assertThat(limited.complete("b")).isNull();

    assertThat(limited.replace("a", 3, ofMillis(10))).as("its own place is free").isEqualTo(1);
    limited.complete("a");
    limited.add("x", 4, ofMillis(10));
    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> limited.replace("b", 5, ofMillis(10)));
    assertThat(limited.complete("b")).isNull();
    assertThat(limited.size()).isOne();
  }

  @Test
  void theFormerValueExpiresIfItsReplacementIsRefused() {
    expirations.add("a", 1, ofMillis(10));
    rig.timer.stop();
    assertThatIllegalStateException().isThrownBy(() -> expirations.replace("a", 2, ofMillis(10)));
    rig.runTasks();
    assertThat(expired).containsExactly("a1");
    assertThat(expirations.size()).isZero();
  }

  /** The timeout that fires frees its place, and another takes it before the entry can. */
  @Test
  void whatCannotBeFiledAnewExpiresAtOnce() {
    Rig full = new Rig(1);
    Expirations<String, Integer> limited = make(full).build();
    limited.add("a", 1, ofMillis(10));
    full.advanceMillis(9);
    limited.touch("a");
    full.onFire = () -> full.timer.newTimeout(timeout -> {}, Duration.ofDays(1));

    full.advanceMillis(1);
    full.runTasks();

    assertThat(expired).containsExactly("a1");
    assertThat(full.errors).hasOnlyElementsOfType(RejectedExecutionException.class).hasSize(1);
    assertThat(limited.size()).isZero();
  }

  @Test
  void whenTheTimerIsStoppedNothingExpiresAndAllCanBeCompleted() {
    expirations.add("a", 1, ofMillis(10));
    rig.timer.stop();
    rig.liveMillis(20);
    assertThat(expired).isEmpty();
    assertThat(expirations.complete("a")).isEqualTo(1);
  }

  @Test
  void stopTakesWhatIsThereAndRefusesMore() {
    expirations.add("a", 1, ofMillis(10));
    assertThat(expirations.stop()).containsExactly(Map.entry("a", 1));
    rig.assertNothingPending();
    assertThatIllegalStateException()
        .isThrownBy(() -> expirations.add("b", 2, ofMillis(10)))
        .withMessage("the expirations are stopped");
    assertThat(expirations.size()).isZero();
    expirations.close();
    assertThat(expired).isEmpty();
  }

  @Test
  void argumentsAreChecked() {
    assertThatNullPointerException()
        .isThrownBy(() -> expirations.add(null, 1, ofMillis(1)))
        .withMessage("key");
    assertThatNullPointerException()
        .isThrownBy(() -> expirations.add("a", null, ofMillis(1)))
        .withMessage("value");
    assertThatNullPointerException()
        .isThrownBy(() -> expirations.add("a", 1, null))
        .withMessage("timeout");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> make(rig).capacity(0))
        .withMessage("capacity: 0 (expected: more than 0)");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Expirations.<String, String>builder(rig.timer, 0, batch -> {}))
        .withMessage("maxBatch: 0 (expected: more than 0)");
    assertThat(expirations.size()).isZero();
  }

  // Races; what they must not do is exhausted by the stress tests

  @Test
  void everyValueHasExactlyOneOutcome() {
    Queue<Integer> outcomes = new ConcurrentLinkedQueue<>();
    Expirations<Integer, Integer> raced =
        Expirations.builder(rig.timer, (Integer key, Integer value) -> outcomes.add(value))
            .executor(Runnable::run)
            .build();
    int values = 20_000;
    Rig.concurrently(
        () -> {
          for (int i = 0; i < values; i++) {
            raced.add(i, i, ofMillis(i % 3));
          }
        },
        () -> {
          for (int i = 0; i < values; i++) {
            raced.touch(i);
            Integer completed = raced.complete(i);
            if (completed != null) {
              outcomes.add(completed);
            }
            if (i % 1_000 == 0) {
              raced.failAll().forEach(entry -> outcomes.add(entry.getValue()));
            }
          }
        },
        () -> {
          for (int i = 0; i < 2_000; i++) {
            rig.stallMillis(1);
            rig.timer.poll();
          }
        });
    raced.stop().forEach(entry -> outcomes.add(entry.getValue()));
    assertThat(outcomes).hasSize(values).doesNotHaveDuplicates();
    rig.assertNothingPending();
  }
}
