// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.timewheel.pattern.Expirations.Cause;
import io.timewheel.pattern.Expirations.Expired;
import io.timewheel.testing.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class ExpirationsTest {
  private final Rig rig = new Rig();
  private final List<String> expired = new ArrayList<>();
  private final Expirations<String, Integer> expirations = make(rig).build();

  private Expirations.Builder<String, Integer> make(Rig rig) {
    return Expirations.builder(rig.timer, (String key, Integer value) -> record(key, value))
        .executor(rig)
        .onError(rig::error);
  }

  private void record(String key, Integer value) {
    expired.add(key + value);
    if (value < 0) {
      throw new IllegalStateException("expired badly");
    }
  }

  @Test
  void expiresOnTheExecutorUnlessCompleted() {
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
  void keyIsTakenUntilItsValueEnds() {
    expirations.add("a", 1, ofMillis(10));
    assertThat(expirations.add("a", 2, ofMillis(10))).isFalse();
    assertThat(rig.timer.pendingTimeouts()).isEqualTo(1);

    rig.advanceMillis(10);
    assertThat(expirations.add("a", 3, ofMillis(10))).isTrue();
    assertThat(expirations.complete("a")).isEqualTo(3);
    rig.assertNothingPending();
  }

  /** A cancelled timeout must not keep itself and its references in memory. */
  @Test
  void completedValueLeavesNothingInTheTimer() {
    expirations.add("a", 1, Duration.ofDays(1));
    expirations.complete("a");
    rig.assertNothingPending();
  }

  @Test
  @Tag("promise-Expirations")
  void touchingPostponesWithoutTheTimer() {
    expirations.add("a", 1, ofMillis(10));
    for (int i = 0; i < 9; i++) {
      rig.liveMillis(1);
      assertThat(expirations.touch("a")).isTrue();
    }
    assertThat(rig.timer.stats().started()).isOne();

    rig.liveMillis(9);
    assertThat(expired).as("touched at 9, so due at 19").isEmpty();
    assertThat(rig.timer.stats().started()).as("re-armed once").isEqualTo(2);
    rig.liveMillis(1);
    assertThat(expired).containsExactly("a1");
    assertThat(expirations.touch("a")).isFalse();
  }

  @Test
  void touchedValueNeverExpires() {
    expirations.add("a", 1, ofMillis(10));
    for (int i = 0; i < 100; i++) {
      rig.liveMillis(7);
      expirations.touch("a");
    }
    assertThat(expired).isEmpty();
    assertThat(expirations.complete("a")).isEqualTo(1);
    rig.assertNothingPending();
  }

  /** The thread that fires the timeout re-arms it before the thread that adds it has stored it. */
  @Test
  void timeoutMayFireBeforeItIsStored() {
    rig.onStart =
        () -> {
          rig.onStart = () -> {};
          rig.stallMillis(10);
          expirations.touch("a");
          rig.timer.poll();
        };
    expirations.add("a", 1, ofMillis(10));
    assertThat(rig.timer.pendingTimeouts()).as("re-armed").isOne();
    assertThat(expirations.complete("a")).isEqualTo(1);
    rig.assertNothingPending();

    rig.fireAtOnceAfterMillis(10);
    assertThat(expirations.add("b", 2, ofMillis(10))).isTrue();
    rig.liveMillis(1);
    assertThat(expired).containsExactly("b2");
    rig.assertNothingPending();
  }

  @Test
  void touchBeforeALateTimerIsInTime() {
    expirations.add("a", 1, ofMillis(10));
    rig.stallMillis(15);
    assertThat(expirations.touch("a")).isTrue();

    rig.liveMillis(9);
    assertThat(expired).isEmpty();
    rig.liveMillis(1);
    assertThat(expired).containsExactly("a1");
  }

  @Test
  void replaceReturnsTheFormerValueWhichDoesNotExpire() {
    assertThat(expirations.replace("a", 1, ofMillis(10))).isNull();
    assertThat(expirations.replace("a", 2, ofMillis(20))).isEqualTo(1);
    assertThat(rig.timer.pendingTimeouts()).isEqualTo(1);

    rig.liveMillis(19);
    assertThat(expired).isEmpty();
    rig.liveMillis(1);
    assertThat(expired).containsExactly("a2");
  }

  @Test
  void removeAllTakesMatchingValues() {
    expirations.add("a", 1, ofMillis(10));
    expirations.add("b", 2, ofMillis(10));
    expirations.add("c", 3, ofMillis(10));

    assertThat(expirations.removeAll((key, value) -> value != 2))
        .containsExactlyInAnyOrder(Map.entry("a", 1), Map.entry("c", 3));
    assertThat(rig.timer.pendingTimeouts()).isEqualTo(1);
    assertThat(expirations.removeAll()).containsExactly(Map.entry("b", 2));
    rig.liveMillis(20);
    assertThat(expired).isEmpty();
  }

  /** Regression: values removed before the exception were neither returned nor expired. */
  @Test
  void conditionThatThrowsRemovesNothing() {
    expirations.add("a", 1, ofMillis(10));
    expirations.add("b", 2, ofMillis(10));
    AtomicInteger calls = new AtomicInteger();

    assertThatIllegalStateException()
        .isThrownBy(
            () ->
                expirations.removeAll(
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
  void oldestCountsFromTheLastTouch() {
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
  void expiresAtTheNextTickOrNeverAtTheExtremes() {
    expirations.add("a", 1, ofMillis(0));
    expirations.add("b", 2, Duration.ofSeconds(Long.MIN_VALUE));
    expirations.add("c", 3, Duration.ofSeconds(Long.MAX_VALUE));
    rig.advanceMillis(1_000_000);
    expirations.touch("c");
    rig.liveMillis(1);
    assertThat(expired).containsExactlyInAnyOrder("a1", "b2");
    assertThat(expirations.size()).isOne();
  }

  @Test
  void getDoesNotRemoveTheValue() {
    expirations.add("a", 1, ofMillis(10));
    assertThat(expirations.get("a")).isEqualTo(1);
    assertThat(expirations.get("b")).isNull();
    rig.liveMillis(10);
    assertThat(expired).containsExactly("a1");
    assertThat(expirations.get("a")).isNull();
  }

  @Test
  void removeRemovesOnlyAnEqualValue() {
    expirations.add("a", 1, ofMillis(10));
    assertThat(expirations.remove("a", 2)).isFalse();
    assertThat(expirations.remove("b", 1)).isFalse();
    assertThat(expirations.size()).isOne();
    assertThat(expirations.remove("a", 1)).isTrue();
    rig.assertNothingPending();
  }

  @Test
  void touchCanChangeTheTimeout() {
    expirations.add("shorter", 1, ofMillis(50));
    expirations.add("longer", 2, ofMillis(10));
    rig.liveMillis(5);
    assertThat(expirations.touch("shorter", ofMillis(20))).isTrue();
    assertThat(expirations.touch("longer", ofMillis(30))).isTrue();
    assertThat(expirations.touch("none", ofMillis(30))).isFalse();
    rig.liveMillis(19);
    assertThat(expired).isEmpty();
    rig.liveMillis(1);
    assertThat(expired).containsExactly("shorter1");
    rig.liveMillis(10);
    assertThat(expired).containsExactly("shorter1", "longer2");
  }

  /**
   * The shorter timeout is set at each clock reading while the entry is re-armed for the longer
   * one.
   */
  @Test
  @Tag("promise-Expirations")
  void shorterTimeoutSetWhileTheTimeoutFiresTakesEffect() {
    for (int reading = 1; reading < 6; reading++) {
      String key = "a" + reading;
      long startMillis = rig.nowMillis();
      expirations.add(key, 1, ofMillis(10));
      expirations.touch(key, ofMillis(100));
      int[] left = {reading};
      rig.onFire =
          () -> {
            rig.onFire = () -> {};
            rig.onClock =
                () -> {
                  if (--left[0] == 0) {
                    rig.onClock = () -> {};
                    expirations.touch(key, ofMillis(7));
                  }
                };
          };
      rig.advanceMillis(16);
      rig.onClock = () -> {};
      rig.liveMillis(14);
      assertThat(left[0]).isLessThanOrEqualTo(0);
      assertThat(expired).as("touched at reading " + reading).last().asString().startsWith(key);
      assertThat(rig.nowMillis()).isEqualTo(startMillis + 30);
    }
  }

  @Test
  void snapshotIsACopy() {
    expirations.add("a", 1, ofMillis(10));
    expirations.add("b", 2, ofMillis(10));
    Map<String, Integer> snapshot = expirations.snapshot();
    expirations.complete("a");
    assertThat(snapshot).containsOnly(Map.entry("a", 1), Map.entry("b", 2));
  }

  @Test
  void listenerReceivesTheCause() {
    List<Expired<String, Integer>> all = new ArrayList<>();
    Expirations<String, Integer> batched =
        Expirations.<String, Integer>builder(rig.timer, 9, all::addAll).executor(rig).build();
    batched.add("a", 1, ofMillis(10));
    batched.add("b", 2, ofMillis(10));
    assertThat(batched.expire("b")).isTrue();
    assertThat(batched.expire("b")).isFalse();
    rig.liveMillis(10);
    assertThat(all)
        .containsExactly(
            new Expired<>("b", 2, Cause.EXPLICIT), new Expired<>("a", 1, Cause.TIMEOUT));
    rig.assertNothingPending();
  }

  @Test
  void createInfersItsTypes() {
    Queue<String> notified = new ConcurrentLinkedQueue<>();
    Expirations<String, Integer> inferred =
        Expirations.create(rig.timer, (key, value) -> notified.add(key.concat("!") + (value + 1)));
    inferred.add("a", 1, ofMillis(10));
    rig.advanceMillis(10);
    Await.until("the listener", () -> notified.contains("a!2"));
  }

  // The hand-off

  @Test
  @Tag("promise-All")
  void handlerReceivesPatternAndKey() {
    expirations.add("a", -1, ofMillis(10));
    Expirations<String, Integer> batched =
        Expirations.<String, Integer>builder(
                rig.timer,
                9,
                batch -> {
                  throw new IllegalStateException();
                })
            .executor(rig)
            .onError(rig::error)
            .build();
    batched.add("b", 2, ofMillis(20));
    batched.add("c", 3, ofMillis(20));
    rig.liveMillis(20);
    assertThat(rig.errorKeys).first().isEqualTo("Expirations a");
    assertThat(rig.errorKeys)
        .element(1)
        .asString()
        .isIn("Expirations [b, c]", "Expirations [c, b]");
  }

  /** Regression: the interrupt status set by one listener call was still set in the next call. */
  @Test
  @Tag("promise-All")
  void interruptDoesNotLeakIntoTheNextCall() {
    List<Boolean> interrupted = new ArrayList<>();
    Expirations<Integer, String> interrupting =
        Expirations.<Integer, String>builder(
                rig.timer,
                (key, value) -> {
                  interrupted.add(Thread.currentThread().isInterrupted());
                  Thread.currentThread().interrupt();
                })
            .executor(rig)
            .build();
    interrupting.add(1, "v", ofMillis(10));
    interrupting.add(2, "v", ofMillis(10));
    rig.liveMillis(10);
    assertThat(interrupted).containsExactly(false, false);
    assertThat(Thread.interrupted()).as("left to the executor").isTrue();
  }

  /**
   * Regression: the executor was never offered another run, so all later entries ran on the timer
   * thread.
   */
  @Test
  @Tag("promise-All")
  void droppedRunIsOfferedAgainWhenMoreExpires() {
    rig.takes = false;
    expirations.add("a", 1, ofMillis(10));
    rig.advanceMillis(10);
    rig.takes = true;
    rig.liveMillis(100);
    assertThat(expired).isEmpty();
    expirations.add("b", 2, ofMillis(10));
    rig.liveMillis(10);
    assertThat(expired).containsExactly("a1", "b2");
  }

  /** If the queue is full, the timer would wait for a run that never happens. */
  @Test
  void droppedRunIsOfferedAgainBeforeTheTimerWaitsForRoom() throws InterruptedException {
    Blocked blocked = new Blocked();
    blocked.letGo.countDown();
    blocked.expireFirst();
    blocked.drops = true;
    blocked.expireOne("second");
    blocked.drops = false;
    blocked.expireOne("third");
    Await.until("all notifications", () -> blocked.toldOn.size() == 3);
    assertThat(blocked.overflow).isEmpty();
  }

  /** A shutdown drops the run that waits, and the executor rejects all later ones. */
  @Test
  @Tag("promise-All")
  void theTimerNotifiesOfAllAfterAShutdownHasDroppedARun() {
    ExecutorService executor = Executors.newSingleThreadExecutor();
    var unused = executor.submit(() -> new CountDownLatch(1).await(1, TimeUnit.DAYS));
    Expirations<String, Integer> entries = make(rig).executor(executor).build();
    entries.add("a", 1, ofMillis(10));
    rig.advanceMillis(10);
    executor.shutdownNow();
    entries.add("b", 2, ofMillis(10));
    rig.advanceMillis(10);
    assertThat(expired).containsExactly("a1", "b2");
  }

  @Test
  void busyExecutorIsOfferedFewRuns() {
    for (int i = 0; i < 1_000; i++) {
      expirations.add("k" + i, i, ofMillis(10));
    }
    rig.advanceMillis(10);
    assertThat(rig.tasks).as("for 1, 2, 3, 5, 9, ... 513 entries").hasSize(11);
    rig.runTasks();
    assertThat(expired).hasSize(1_000);
  }

  @Test
  @Tag("promise-All")
  void listenerThatThrowsStillReceivesTheOtherEntries() {
    expirations.add("a", -1, ofMillis(10));
    expirations.add("b", 2, ofMillis(10));
    rig.liveMillis(20);
    assertThat(expired).containsExactlyInAnyOrder("a-1", "b2");
    assertThat(rig.errorMessages()).containsExactly("expired badly");
  }

  @Test
  void batchesHoldEverythingExpiredUpToTheirLimit() {
    List<List<Expired<Integer, String>>> batches = new ArrayList<>();
    Expirations<Integer, String> inBatches =
        Expirations.<Integer, String>builder(rig.timer, 3, batches::add).executor(rig).build();
    for (int i = 0; i < 5; i++) {
      inBatches.add(i, "v", ofMillis(10));
    }
    rig.liveMillis(10);
    assertThat(batches).extracting(List::size).containsExactly(3, 2);
    assertThat(batches.stream().flatMap(List::stream))
        .containsExactlyInAnyOrder(
            new Expired<>(0, "v", Cause.TIMEOUT),
            new Expired<>(1, "v", Cause.TIMEOUT),
            new Expired<>(2, "v", Cause.TIMEOUT),
            new Expired<>(3, "v", Cause.TIMEOUT),
            new Expired<>(4, "v", Cause.TIMEOUT));
  }

  @Test
  @Tag("promise-Expirations")
  void overflowRunsOnTheTimerThread() {
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
  @Tag("promise-Expirations")
  void overflowGoesToTheOverflowListener() {
    List<Expired<String, Integer>> overflow = new ArrayList<>();
    Expirations<String, Integer> small = make(rig).capacity(1).onOverflow(overflow::addAll).build();
    small.add("a", 1, ofMillis(10));
    small.add("b", 2, ofMillis(11));
    rig.advanceMillis(20);
    assertThat(overflow).containsExactly(new Expired<>("b", 2, Cause.TIMEOUT));
    rig.runTasks();
    assertThat(expired).containsExactly("a1");
  }

  /**
   * The listener handles one entry, the queue contains one, and the timer thread holds the third.
   */
  @Test
  @Tag("promise-Expirations")
  void timerThreadWaitsForRoomIfSet() throws InterruptedException {
    Blocked blocked = new Blocked();
    Thread clock = blocked.expire(3);
    Await.until("the clock to wait", () -> clock.getState() == Thread.State.WAITING);
    blocked.letGo.countDown();
    clock.join();
    Await.until("all notifications", () -> blocked.toldOn.size() == 3);
    assertThat(blocked.toldOn).doesNotContain(clock);
    assertThat(blocked.overflow).isEmpty();
  }

  /** A stop whose shutdown timeout has elapsed interrupts the timer thread. */
  @Test
  void interruptEndsTheWaitForRoomAndLosesNothing() throws InterruptedException {
    Blocked blocked = new Blocked();
    Thread clock = blocked.expire(3);
    Await.until("the clock to wait", () -> clock.getState() == Thread.State.WAITING);
    clock.interrupt();
    clock.join();
    assertThat(blocked.overflow).hasSize(1);
    assertThat(blocked.interruptedAfterwards).isTrue();
    blocked.letGo.countDown();
    Await.until("the other notifications", () -> blocked.toldOn.size() == 2);
  }

  /** The caller may be the listener, which would wait for itself. */
  @Test
  @Tag("promise-Expirations")
  void explicitExpiryDoesNotWaitForRoom() {
    List<Expired<String, Integer>> overflow = new ArrayList<>();
    Expirations<String, Integer> small =
        make(rig).capacity(1).blockOnOverflow().onOverflow(overflow::addAll).build();
    small.add("a", 1, ofMillis(10));
    small.add("b", 2, ofMillis(20));
    rig.advanceMillis(10);
    Thread caller = new Thread(() -> small.expire("b"));
    caller.setDaemon(true);
    caller.start();
    Await.until("the caller to return", () -> !caller.isAlive());
    assertThat(overflow).containsExactly(new Expired<>("b", 2, Cause.EXPLICIT));
    rig.runTasks();
    assertThat(expired).containsExactly("a1");
  }

  /**
   * Expirations with room for one entry, whose timer waits, and a listener that waits for
   * permission.
   */
  private final class Blocked {
    final CountDownLatch letGo = new CountDownLatch(1);
    final Queue<Thread> toldOn = new ConcurrentLinkedQueue<>();
    final Queue<Expired<String, Integer>> overflow = new ConcurrentLinkedQueue<>();
    private final CountDownLatch inListener = new CountDownLatch(1);
    private final Expirations<String, Integer> waiting =
        Expirations.builder(rig.timer, this::notified)
            .executor(this::execute)
            .capacity(1)
            .blockOnOverflow()
            .onOverflow(overflow::addAll)
            .build();
    private final Executor threads = OwnThreads.create("listener", 1);
    volatile boolean interruptedAfterwards;
    volatile boolean drops;

    private void execute(Runnable run) {
      if (!drops) {
        threads.execute(run);
      }
    }

    private void notified(String key, Integer value) {
      inListener.countDown();
      try {
        letGo.await();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
      toldOn.add(Thread.currentThread());
    }

    void expireFirst() throws InterruptedException {
      expireOne("first");
      assertThat(inListener.await(60, TimeUnit.SECONDS)).isTrue();
      Await.until("the run to end", () -> letGo.getCount() > 0 || toldOn.size() == 1);
    }

    void expireOne(String key) {
      waiting.add(key, 0, ofMillis(1));
      rig.advanceMillis(1);
    }

    /** Expires entries. The first one reaches the listener before the next one is queued. */
    Thread expire(int entries) throws InterruptedException {
      expireFirst();
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
  void rejectedRunFallsBackToTheTimerThread() {
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
  void runAcceptedAndThenRejectedNotifiesOnce() {
    rig.rejects = true;
    expirations.add("a", 1, ofMillis(10));
    rig.advanceMillis(10);
    rig.runTasks();
    assertThat(expired).containsExactly("a1");
  }

  @Test
  void handlerThatThrowsAffectsNoOtherEntry() {
    Expirations<String, Integer> bad =
        make(rig)
            .onError(
                (pattern, key, error) -> {
                  throw new IllegalStateException("expected in the log of this test", error);
                })
            .build();
    bad.add("a", -1, ofMillis(10));
    bad.add("b", 2, ofMillis(10));
    rig.liveMillis(10);
    assertThat(expired).hasSize(2);
  }

  /** Without an executor, the listener has a daemon thread, and may block it. */
  @Test
  void blockedListenerOnItsOwnThreadDoesNotStopTheTimer() throws InterruptedException {
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
  @Tag("promise-All")
  void refusedValueIsNotThere() {
    Rig full = new Rig(1);
    Expirations<String, Integer> limited = make(full).build();
    limited.add("a", 1, ofMillis(10));

    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> limited.add("b", 2, ofMillis(10)));
    assertThat(limited.size()).isOne();
    assertThat(limited.complete("b")).isNull();

    assertThat(limited.replace("a", 3, ofMillis(10))).as("in the freed place").isEqualTo(1);
    limited.complete("a");
    limited.add("x", 4, ofMillis(10));
    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> limited.replace("b", 5, ofMillis(10)));
    assertThat(limited.complete("b")).isNull();
    assertThat(limited.size()).isOne();
  }

  @Test
  void keepsTheFormerValueIfItsReplacementIsRefused() {
    expirations.add("a", 1, ofMillis(10));
    rig.timer.stop();
    assertThatIllegalStateException()
        .isThrownBy(() -> expirations.replace("a", 2, ofMillis(10)))
        .withMessage("the timer is stopped");
    assertThat(expirations.complete("a")).isEqualTo(1);
  }

  /**
   * Regression: the entry left the timer when its timeout fired. Another timeout took its place,
   * and the entry expired at once.
   */
  @Test
  @Tag("promise-All")
  void touchedEntrySurvivesAFullTimer() {
    Rig full = new Rig(1);
    Expirations<String, Integer> limited = make(full).build();
    limited.add("a", 1, ofMillis(10));
    full.advanceMillis(9);
    limited.touch("a");
    full.onFire = full::fillUp;

    full.liveMillis(9);
    assertThat(expired).isEmpty();
    assertThat(full.errors).isEmpty();
    full.liveMillis(1);
    assertThat(expired).containsExactly("a1");
    assertThat(limited.size()).isZero();
  }

  /** Regression: the map contained the key before its timeout was started, and then dropped it. */
  @Test
  @Tag("promise-All")
  void refusedAdditionIsNeverSeenByAnother() {
    Rig full = new Rig(1);
    Expirations<String, Integer> limited = make(full).build();
    full.fillUp();
    List<Boolean> seen = new ArrayList<>();
    full.onClock = () -> seen.add(limited.size() > 0);
    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> limited.add("a", 1, ofMillis(10)));
    assertThat(seen).isNotEmpty().containsOnly(false);
  }

  @Test
  void valuesCanBeCompletedAfterTheTimerIsStopped() {
    expirations.add("a", 1, ofMillis(10));
    rig.timer.stop();
    rig.liveMillis(20);
    assertThat(expired).isEmpty();
    assertThat(expirations.complete("a")).isEqualTo(1);
  }

  @Test
  void stopReturnsAllValuesAndRefusesMore() {
    expirations.add("a", 1, ofMillis(10));
    assertThat(expirations.stop()).containsExactly(Map.entry("a", 1));
    rig.assertNothingPending();
    assertThatIllegalStateException()
        .isThrownBy(() -> expirations.add("b", 2, ofMillis(10)))
        .withMessage("this Expirations is stopped");
    assertThat(expirations.size()).isZero();
    expirations.close();
    assertThat(expired).isEmpty();
  }

  @Test
  void checksArguments() {
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

  // Races; the stress tests cover their forbidden outcomes

  @Test
  @Tag("promise-Expirations")
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
              raced.removeAll().forEach(entry -> outcomes.add(entry.getValue()));
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

  @Test
  void removeAllOmitsAValueThatWasTakenMeanwhile() {
    expirations.add("a", 1, ofMillis(10));
    assertThat(expirations.removeAll((key, value) -> expirations.complete(key) != null)).isEmpty();
    assertThat(expirations.size()).isZero();
  }
}
