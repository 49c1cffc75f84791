// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.timewheel.PassiveTimer.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests for bugs of other timers, named after these timers and their issue numbers. A tick is ten
 * nanoseconds; the hashed wheel has eight slots. Bugs that need a thread are in {@link
 * IncidentsWithThreadsTest}.
 */
class IncidentsTest {
  private static final int TICK = 10;

  /** A negative delay fired after ten seconds. */
  @ParameterizedTest
  @EnumSource
  @Tag("promise-4")
  void netty1953NegativeDelayFiresAtTheNextTick(Kind kind) {
    PassiveTimer timer = new PassiveTimer(kind, TICK);
    for (long startNanos : new long[] {0, 15, 20, 99, 1_000_000_001}) {
      timer.advanceTo(startNanos);
      timer.start(-1);
      timer.start(Long.MIN_VALUE);
      timer.start(0);
      long nextTickNanos = (startNanos / TICK + 1) * TICK;

      assertThat(timer.poll()).as("never at once").isZero();
      assertThat(timer.advanceTo(nextTickNanos - 1)).isZero();
      assertThat(timer.advanceTo(nextTickNanos)).isEqualTo(3);
    }
  }

  /** The time of firing drifted with every turn of the wheel. */
  @ParameterizedTest
  @EnumSource
  void netty1959FiringDoesNotDriftOverATurn(Kind kind) {
    PassiveTimer timer = new PassiveTimer(kind, TICK);
    TimerTask again =
        new TimerTask() {
          @Override
          public void run(Timeout timeout) {
            timer.task.run(timeout);
            timer.start(this, 7 * TICK);
          }
        };
    timer.start(again, 7 * TICK);

    for (int tick = 1; tick <= 7 * 100; tick++) {
      timer.advance(TICK);
    }

    List<Long> expected = new ArrayList<>();
    for (int run = 1; run <= 100; run++) {
      expected.add(run * 7L * TICK);
    }
    assertThat(timer.task.ranAtNanos).containsExactlyElementsOf(expected);
  }

  /** A timeout cancelled twice was unlinked twice, and the list became a loop. */
  @ParameterizedTest
  @EnumSource
  void netty2651CancelledTwiceIsUnlinkedOnce(Kind kind) {
    PassiveTimer timer = new PassiveTimer(kind, TICK);
    Timeout before = timer.start(50);
    Timeout twice = timer.start(50);
    Timeout after = timer.start(50);

    assertThat(twice.cancel()).isTrue();
    assertThat(twice.cancel()).isFalse();
    assertThat(twice.reschedule(Duration.ofNanos(50))).isFalse();
    assertThat(timer.engine.pendingTimeouts()).isEqualTo(2);

    assertThat(timer.advance(50)).isEqualTo(2);
    assertThat(timer.task.ran).containsExactly(before, after);
    assertThat(timer.task.cancelled).containsExactly(twice);
    assertThat(timer.engine.nextTick()).isEqualTo(Ticks.NEVER);
  }

  /** An optimisation that skipped slots it took for empty missed timeouts. It was reverted. */
  @ParameterizedTest
  @EnumSource
  void netty12888And13018NoSkippedSlotHidesATimeout(Kind kind) {
    PassiveTimer timer = new PassiveTimer(kind, TICK);
    Random random = new Random(12_888);
    int pending = 0;
    List<WheelTimeout> all = new ArrayList<>();
    for (int round = 0; round < 300; round++) {
      for (int i = random.nextInt(20); i > 0; i--) {
        all.add(timer.start(1 + random.nextLong(1L << random.nextInt(1, 30))));
        pending++;
      }

      pending -= timer.advance(random.nextLong(1L << random.nextInt(1, 28)));

      long nowNanos = timer.clock.nanoTime();
      assertThat(all)
          .allMatch(
              timeout -> timeout.isExpired() == timer.firesAt(timeout.deadlineNanos()) <= nowNanos);
      assertThat(timer.engine.pendingTimeouts()).isEqualTo(pending);
    }
  }

  /** A due timeout had to wait behind many cancelled ones. */
  @ParameterizedTest
  @EnumSource
  void netty15760CancelsBeforeAnExpiryDoNotDelayIt(Kind kind) {
    PassiveTimer timer = new PassiveTimer(kind, TICK);
    List<Timeout> cancelled = new ArrayList<>();
    for (int i = 0; i < 100_000; i++) {
      cancelled.add(timer.start(1 + i % 500));
    }
    Timeout due = timer.start(500);
    cancelled.forEach(Timeout::cancel);

    timer.clock.advance(500);

    assertThat(timer.engine.runDue(1)).isEqualTo(1);
    assertThat(timer.task.ran).containsExactly(due);
  }

  /** A timeout of this turn was hidden behind one that had wrapped around. */
  @ParameterizedTest
  @EnumSource
  void caffeineNoTimeoutIsHiddenBehindAWrappedOne(Kind kind) {
    PassiveTimer timer = new PassiveTimer(kind, 1);
    timer.advanceTo(254);
    timer.start(65_536 + 1);
    timer.start(256 + 5);
    timer.start(8 + 4);
    assertThat(timer.engine.nextTick()).isEqualTo(254 + 12);

    timer.start(3);
    assertThat(timer.engine.nextTick()).isEqualTo(254 + 3);
    timer.advance(3);
    assertThat(timer.engine.nextTick()).isEqualTo(254 + 12);
    timer.advance(9);
    assertThat(timer.engine.nextTick()).isEqualTo(254 + 261);
    timer.advance(249);
    assertThat(timer.engine.nextTick()).isEqualTo(254 + 65_537);
    timer.advance(65_276);
    assertThat(timer.task.runs()).isEqualTo(4);
  }

  /** If a task removed other timeouts of its slot, part of the slot was not processed. */
  @ParameterizedTest
  @EnumSource
  void caffeineReentrantRemovalLosesNoTimeout(Kind kind) {
    PassiveTimer timer = new PassiveTimer(kind, TICK);
    List<Timeout> slot = new ArrayList<>();
    TimerTask removesOthers =
        new TimerTask() {
          @Override
          public void run(Timeout timeout) {
            timer.task.run(timeout);
            int own = slot.indexOf(timeout);
            slot.get(Math.min(own + 1, 199)).cancel();
            timer.start(0);
          }

          /** Continues to the last but one timeout of the slot. */
          @Override
          public void cancelled(Timeout timeout) {
            timer.task.cancelled(timeout);
            slot.get(198).cancel();
          }
        };
    for (int i = 0; i < 200; i++) {
      slot.add(timer.start(removesOthers, 50));
    }

    // The even ones run and cancel the odd ones. The first of these cancels 198, so 199 runs.
    assertThat(timer.advance(50)).isEqualTo(100);

    assertThat(timer.task.cancelled).hasSize(100).contains(slot.get(1), slot.get(198));
    assertThat(timer.advance(TICK)).as("the timeouts that the tasks started").isEqualTo(100);
    assertThat(timer.engine.pendingTimeouts()).isZero();
    assertThat(timer.engine.nextTick()).isEqualTo(Ticks.NEVER);
  }

  /** Delays were counted from the last processed tick instead of from now. */
  @ParameterizedTest
  @EnumSource
  void follyNowAgainstLastTickIsNeitherEarlyNorLate(Kind kind) {
    PassiveTimer timer = new PassiveTimer(kind, TICK);
    timer.start(100_000_000_000L);
    timer.advance(5);
    for (long idleNanos : new long[] {3, 77, 1_003, 6_543_219, 3_600_000_000_007L}) {
      timer.clock.advance(idleNanos); // and no thread polls
      long deadlineNanos = timer.clock.nanoTime() + 25;
      WheelTimeout timeout = timer.start(25);

      timer.advanceTo(timer.firesAt(deadlineNanos) - 1);
      assertThat(timeout.isPending()).as("early after %s", idleNanos).isTrue();
      timer.advance(1);
      assertThat(timeout.isPending()).as("late after %s", idleNanos).isFalse();
    }
  }

  /** Removal from the middle broke the order of a heap. */
  @ParameterizedTest
  @EnumSource
  void jdk8370887OrderSurvivesRemovals(Kind kind) {
    PassiveTimer timer = new PassiveTimer(kind, TICK);
    Random random = new Random(8_370_887);
    List<WheelTimeout> all = new ArrayList<>();
    for (int i = 0; i < 5_000; i++) {
      all.add(timer.start(1 + random.nextInt(100_000)));
    }
    Collections.shuffle(all, random);
    all.subList(0, 2_000).forEach(Timeout::cancel);
    all.subList(2_000, 3_000)
        .forEach(
            timeout ->
                assertThat(timeout.reschedule(Duration.ofNanos(random.nextInt(100_000)))).isTrue());

    assertThat(timer.advance(100_000)).isEqualTo(3_000);

    assertThat(timer.task.ran)
        .extracting(timeout -> timer.firesAt(((WheelTimeout) timeout).deadlineNanos()))
        .isSorted();
  }

  /**
   * A handle kept after its timeout had ended cancelled another timeout, which reused the same
   * entry.
   */
  @ParameterizedTest
  @EnumSource
  void agronaStaleHandleCancelsNoOtherTimeout(Kind kind) {
    PassiveTimer timer = new PassiveTimer(kind, TICK);
    Timeout past = timer.start(5);
    timer.advance(TICK);
    Timeout present = timer.start(5);

    assertThat(past.cancel()).isFalse();
    assertThat(past.reschedule(Duration.ofDays(1))).isFalse();

    timer.advance(TICK);
    assertThat(timer.task.ran).containsExactly(past, present);
  }

  /** Timeouts fired up to a tick too early. */
  @ParameterizedTest
  @EnumSource
  void kafkaNothingFiresBeforeItsDeadline(Kind kind) {
    PassiveTimer timer = new PassiveTimer(kind, TICK);
    for (int delay = 1; delay <= 500; delay++) {
      timer.start(delay);
      timer.advance(1);
      timer.advance(1);
      timer.advance(1);
    }
    while (timer.task.runs() < 500) {
      timer.advance(1);
    }

    assertThat(timer.task.lagsNanos).allMatch(lag -> lag >= 0 && lag < TICK);
  }

  /**
   * Timeouts that were already due when they were started counted towards the limit for too long.
   */
  @ParameterizedTest
  @EnumSource
  void nettyLimitIsFullUntilTheNextTickWithDelaysThatArePast(Kind kind) {
    PassiveTimer timer = new PassiveTimer(kind, TICK, 1, 8);
    for (int i = 0; i < 8; i++) {
      timer.start(-1);
    }

    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> timer.start(-1))
        .withMessage("pending timeouts: 8 (expected: less than maxPendingTimeouts, 8)");
    assertThat(timer.poll()).isZero();
    assertThat(timer.engine.pendingTimeouts()).isEqualTo(8);

    assertThat(timer.advance(TICK)).isEqualTo(8);
    timer.start(-1);
  }
}
