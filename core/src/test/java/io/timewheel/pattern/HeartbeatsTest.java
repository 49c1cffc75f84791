// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.timewheel.PolledTimer;
import io.timewheel.pattern.Heartbeats.Connection;
import io.timewheel.testing.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class HeartbeatsTest {
  private final Rig rig = new Rig();
  private final List<String> beats = new ArrayList<>();
  private final List<String> idle = new ArrayList<>();
  private final Heartbeats<String> heartbeats = make(rig).build();

  private Heartbeats.Builder<String> make(Rig rig) {
    return Heartbeats.<String>builder(rig.timer, rig)
        .onWriteIdle(ofMillis(10), this::beat)
        .onReadIdle(ofMillis(35), connection -> idle.add(connection.key() + rig.nowMillis()))
        .random(() -> 1)
        .onError(rig::error);
  }

  private void beat(Connection<String> connection) {
    String key = connection.key();
    beats.add(key + rig.nowMillis());
    if (key.equals("bad")) {
      throw new StackOverflowError("beat badly");
    }
  }

  @Test
  void beatsAfterEveryPeriodWithoutAWrite() {
    Connection<String> a = heartbeats.add("a");
    rig.liveMillis(5);
    a.written();
    rig.liveMillis(29);
    assertThat(beats).containsExactly("a15", "a25");
    a.written();
    rig.liveMillis(10);
    assertThat(beats).containsExactly("a15", "a25", "a44");
  }

  @Test
  void watchesReadsAndWritesSeparately() {
    Connection<String> a = heartbeats.add("a");
    rig.liveMillis(30);
    a.read();
    a.written();
    rig.liveMillis(34);
    assertThat(idle).isEmpty();
    rig.liveMillis(1);
    assertThat(idle).containsExactly("a65");
    rig.liveMillis(35);
    assertThat(idle).as("again after every such time").containsExactly("a65", "a100");
  }

  /**
   * Regression: the idle time was negative, and the result wrapped when it was subtracted from
   * "never".
   */
  @Test
  void messageNewerThanTheReadingOfTheClockIsNotIdleness() {
    Heartbeats<String> neverIdle =
        make(rig)
            .onReadIdle(
                ofSeconds(Long.MAX_VALUE),
                connection -> idle.add(connection.key() + rig.nowMillis()))
            .build();
    Connection<String> a = neverIdle.add("a");
    Runnable message =
        () -> {
          rig.onClock = () -> {};
          rig.stallMillis(1);
          a.read();
        };
    rig.onFire =
        () -> {
          rig.onFire = () -> {};
          rig.onClock = message;
        };
    rig.advanceMillis(15);
    rig.runTasks();
    assertThat(beats).hasSize(1);
    assertThat(idle).isEmpty();
  }

  @Test
  void messagesDoNotTouchTheTimer() {
    Connection<String> a = heartbeats.add("a");
    long startedBefore = rig.timer.stats().started();
    for (int i = 0; i < 100; i++) {
      a.read();
      a.written();
    }
    assertThat(rig.timer.stats().started()).isEqualTo(startedBefore);
    assertThat(rig.timer.stats().rescheduled()).isZero();
    assertThat(rig.timer.pendingTimeouts()).as("one for both directions").isOne();
  }

  /** Regression: one failed check ended all later checks, and one dead peer delayed all others. */
  @Test
  @Tag("promise-Heartbeats")
  void beatThatFailsIsFollowedByTheNext() {
    heartbeats.add("bad");
    heartbeats.add("good");
    rig.liveMillis(30);
    assertThat(beats)
        .containsExactlyInAnyOrder("bad10", "bad20", "bad30", "good10", "good20", "good30");
    assertThat(rig.errors).hasSize(3).hasOnlyElementsOfType(StackOverflowError.class);
  }

  /** The executor runs no task, as if its thread were blocked. */
  @Test
  @Tag("promise-Heartbeats")
  void heartbeatsDoNotQueueBehindABlockedOne() {
    heartbeats.add("a");
    heartbeats.add("b");
    rig.advanceMillis(34);
    rig.runTasks();
    rig.liveMillis(10);
    assertThat(beats).containsExactlyInAnyOrder("a34", "b34", "a40", "b40");
  }

  @Test
  void busyExecutorIsOfferedFewHeartbeats() {
    heartbeats.add("a").read();
    Heartbeats<String> writing =
        Heartbeats.<String>builder(rig.timer, rig)
            .onWriteIdle(ofMillis(10), this::beat)
            .random(() -> 1)
            .build();
    heartbeats.close();
    writing.add("b");
    rig.advanceMillis(10 * 64);
    assertThat(rig.tasks).as("at 1, 2, 3, 5, 9, 17 and 33 periods").hasSize(7);
    rig.advanceMillis(10_000);
    assertThat(rig.tasks).hasSizeLessThan(30);
    rig.runTasks();
    assertThat(beats).hasSize(1);
  }

  /**
   * Regression: the executor accepted and dropped the heartbeat, and the connection received no
   * further heartbeat.
   */
  @Test
  @Tag("promise-All")
  void droppedHeartbeatDoesNotStopLaterOnes() {
    rig.takes = false;
    heartbeats.add("a");
    rig.advanceMillis(10);
    rig.takes = true;
    rig.liveMillis(25);
    assertThat(beats).containsExactly("a20", "a30");
  }

  /** Regression: the callback waited in a busy executor, and then closed a live connection. */
  @Test
  @Tag("promise-Heartbeats")
  void alarmIsOffIfAMessageComesWhileItWaitsForTheExecutor() {
    Connection<String> a = heartbeats.add("a");
    rig.advanceMillis(35);
    a.read();
    a.written();
    rig.runTasks();
    assertThat(idle).isEmpty();
    assertThat(beats).isEmpty();
    rig.liveMillis(10);
    assertThat(beats).containsExactly("a45");
    rig.liveMillis(25);
    assertThat(idle).containsExactly("a70");
  }

  @Test
  void allIsIdleIfNothingWasReadOrWritten() {
    Heartbeats<String> unused =
        Heartbeats.<String>builder(rig.timer, rig)
            .onAllIdle(ofMillis(20), c -> idle.add(c.key() + rig.nowMillis()))
            .build();
    Connection<String> a = unused.add("a");
    rig.liveMillis(15);
    a.read();
    rig.liveMillis(15);
    a.written();
    rig.liveMillis(19);
    assertThat(idle).isEmpty();
    rig.liveMillis(30);
    assertThat(idle).containsExactly("a50", "a70");
  }

  @Test
  void connectionIsFoundAndClosedByItsKey() {
    Connection<String> a = heartbeats.add("a");
    assertThat(heartbeats.get("a")).isSameAs(a);
    assertThat(heartbeats.get("b")).isNull();
    assertThat(heartbeats.close("a")).isTrue();
    assertThat(heartbeats.close("a")).isFalse();
    rig.assertNothingPending();
  }

  @Test
  void handlerReceivesPatternAndKey() {
    heartbeats.add("bad");
    rig.liveMillis(10);
    assertThat(rig.errorKeys).containsExactly("Heartbeats bad");
  }

  /** Regression: one dead peer delayed all others. */
  @Test
  @Tag("promise-Heartbeats")
  void beatThatBlocksDelaysNoOther() {
    CountDownLatch letGo = new CountDownLatch(1);
    Semaphore beaten = new Semaphore(0);
    AtomicInteger dead = new AtomicInteger();
    ExecutorService executor = Executors.newFixedThreadPool(2);
    Heartbeats<String> threaded =
        Heartbeats.<String>builder(rig.timer, executor)
            .onWriteIdle(
                ofMillis(10),
                connection -> {
                  if (connection.key().equals("dead")) {
                    dead.incrementAndGet();
                    awaitUninterrupted(letGo);
                  } else {
                    beaten.release();
                  }
                })
            .random(() -> 1)
            .build();
    threaded.add("dead");
    threaded.add("good");
    try {
      for (int i = 0; i < 5; i++) {
        Await.until(
            "a beat",
            () -> {
              rig.advanceMillis(10); // has no effect if the last heartbeat has not quite ended
              return beaten.tryAcquire();
            });
      }
      Await.until("the beat that blocks", () -> dead.get() > 0);
      assertThat(dead).as("no overlap with itself").hasValue(1);
    } finally {
      letGo.countDown();
      executor.shutdown();
    }
  }

  private static void awaitUninterrupted(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /**
   * Regression: a timer task that started itself in its constructor ran before its fields were set.
   */
  @Test
  @Tag("promise-Heartbeats")
  void beatMayBeDueBeforeAddReturns() {
    rig.fireAtOnceAfterMillis(10);
    Connection<String> a = heartbeats.add("a");
    rig.runTasks();
    assertThat(beats).containsExactly("a10");
    rig.liveMillis(10);
    assertThat(beats).as("later heartbeats are sent").containsExactly("a10", "a20");
    a.close();
    rig.assertNothingPending();
  }

  @Test
  void beatThatTheExecutorTakesAndRejectsIsSkipped() {
    rig.rejects = true;
    heartbeats.add("a");
    rig.advanceMillis(10);
    rig.rejects = false;
    rig.runTasks();
    assertThat(beats).isEmpty();
    rig.liveMillis(10);
    assertThat(beats).containsExactly("a20");
    assertThat(rig.errors).hasSize(1);
  }

  @Test
  void refusesToWatchNothing() {
    assertThatIllegalStateException()
        .isThrownBy(() -> Heartbeats.<String>builder(rig.timer, rig).build())
        .withMessage("none of onReadIdle, onWriteIdle and onAllIdle is set");
  }

  @Test
  void skipsAndReportsAHeartbeatThatTheExecutorRejects() {
    rig.takes = false;
    rig.rejects = true;
    heartbeats.add("a");
    rig.advanceMillis(10);
    assertThat(rig.errors).hasOnlyElementsOfType(RejectedExecutionException.class).hasSize(1);
    rig.takes = true;
    rig.rejects = false;
    rig.liveMillis(10);
    assertThat(beats).containsExactly("a20");
  }

  @Test
  void firstHeartbeatIsSentAfterARandomPart() {
    double[] parts = {0.0, 0.25, 0.5, 1.0};
    int[] next = {0};
    Heartbeats<String> jittered = make(rig).random(() -> parts[next[0]++]).build();
    for (String key : List.of("a", "b", "c", "d")) {
      jittered.add(key);
    }
    rig.liveMillis(12);
    assertThat(beats).containsExactly("a1", "b3", "c5", "d10", "a11");
    assertThat(idle).isEmpty();
  }

  @Test
  void spreadsFirstHeartbeatsByDefault() {
    Heartbeats<Integer> many =
        Heartbeats.<Integer>builder(rig.timer, rig)
            .onWriteIdle(ofSeconds(1), connection -> beats.add("" + rig.nowMillis()))
            .build();
    for (int i = 0; i < 200; i++) {
      many.add(i);
    }
    rig.liveMillis(1_000);
    assertThat(beats).hasSizeGreaterThanOrEqualTo(200);
    assertThat(beats.stream().distinct().count()).isGreaterThan(50);
    assertThat(rig.errors).isEmpty();
  }

  @Test
  void stopsWatchingAClosedConnection() {
    Connection<String> a = heartbeats.add("a");
    heartbeats.add("b");
    a.close();
    a.close();
    assertThat(heartbeats.size()).isOne();
    assertThat(rig.timer.pendingTimeouts()).isOne();
    rig.liveMillis(10);
    assertThat(beats).containsExactly("b10");
  }

  @Test
  void callbackMayCloseItsConnection() {

    Heartbeats<String> closing =
        make(rig)
            .onReadIdle(
                ofMillis(5),
                connection -> {
                  idle.add(connection.key());
                  connection.close();
                })
            .build();
    closing.add("a");
    rig.liveMillis(100);
    assertThat(idle).containsExactly("a");
    assertThat(beats).isEmpty();
    rig.assertNothingPending();
  }

  @Test
  void callbackThatClosesItsConnectionIsTheLastOfSeveralDueAtOnce() {
    Heartbeats<String> both =
        Heartbeats.<String>builder(rig.timer, Runnable::run)
            .onReadIdle(
                ofMillis(10),
                connection -> {
                  idle.add("read");
                  connection.close();
                })
            .onAllIdle(ofMillis(10), connection -> idle.add("all"))
            .build();
    both.add("a");
    rig.advanceMillis(20);
    assertThat(idle).containsExactly("read");
    rig.assertNothingPending();
  }

  @Test
  void connectionWhoseTimerStopsBeforeItsRunIsNoLongerWatched() {
    PolledTimer timer =
        PolledTimer.builder().timeSource(rig.timer.timeSource()).executor(rig).build();
    Heartbeats<String> watched =
        Heartbeats.<String>builder(timer, rig).onReadIdle(ofMillis(10), this::beat).build();
    watched.add("a");
    rig.advanceMillis(11);
    timer.poll();
    assertThat(timer.stop()).as("its run waits for the executor").isEmpty();
    assertThat(watched.size()).isEqualTo(1);
    rig.runTasks();
    assertThat(watched.size()).isZero();
    assertThat(beats).isEmpty();
  }

  @Test
  void noCallbackBeginsAfterClose() {
    Connection<String> a = heartbeats.add("a");
    rig.advanceMillis(10);
    a.close();
    rig.runTasks();
    assertThat(beats).isEmpty();
  }

  @Test
  void connectionReplacesItsEqual() {
    Connection<String> former = heartbeats.add("a");
    heartbeats.add("a");
    assertThat(heartbeats.size()).isOne();
    assertThat(rig.timer.pendingTimeouts()).isOne();
    former.close();
    rig.liveMillis(10);
    assertThat(beats).as("closing the former leaves the latter").containsExactly("a10");
  }

  @Test
  void refusedConnectionIsNotWatchedAndItsEqualStillIs() {
    Rig full = new Rig(1);
    Heartbeats<String> limited = make(full).build();
    Connection<String> a = limited.add("a");
    for (String key : List.of("b", "a")) {
      assertThatExceptionOfType(RejectedExecutionException.class)
          .isThrownBy(() -> limited.add(key));
    }
    assertThat(limited.size()).isOne();
    assertThat(limited.get("a")).isSameAs(a);
  }

  /**
   * Regression: the timeout left the timer and was then refused, so no callback reported the dead
   * peer.
   */
  @Test
  @Tag("promise-All")
  void connectionIsWatchedIfTheTimerIsFull() {
    Rig full = new Rig(1);
    Heartbeats<String> limited = make(full).build();
    limited.add("a");
    full.onFire = full::fillUp;
    for (int i = 0; i < 35; i++) {
      full.advanceMillis(1);
      full.runTasks();
    }
    assertThat(limited.size()).isOne();
    assertThat(full.errors).isEmpty();
    assertThat(beats).hasSize(3);
    assertThat(idle).hasSize(1);
  }

  @Test
  void closeCancelsEverything() {
    heartbeats.add("a");
    Heartbeats<String> other = make(rig).build();
    other.add("b");
    heartbeats.close();
    assertThat(heartbeats.size()).isZero();
    assertThat(rig.timer.pendingTimeouts()).isOne();
    assertThatIllegalStateException()
        .isThrownBy(() -> heartbeats.add("c"))
        .withMessage("the heartbeats are closed");
    assertThat(heartbeats.size()).isZero();
    rig.timer.stop();
    assertThat(other.size()).as("it would not be watched").isZero();
  }

  @Test
  void oneDirectionIsEnough() {
    Heartbeats<String> readOnly =
        Heartbeats.<String>builder(rig.timer, rig)
            .onReadIdle(ofMillis(7), connection -> idle.add(connection.key() + rig.nowMillis()))
            .random(() -> 0)
            .build();
    Connection<String> a = readOnly.add("a");
    rig.liveMillis(3);
    a.written();
    rig.liveMillis(4);
    assertThat(idle).containsExactly("a7");
  }
}
