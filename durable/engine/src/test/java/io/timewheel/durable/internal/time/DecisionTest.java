// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.timewheel.durable.model.MissedRuns;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Tag;
import net.jqwik.api.constraints.IntRange;

@Tag("promise-50")
class DecisionTest {
  private static final long GRACE = 60_000;
  private static final Recurrence EVERY_HOUR = Recurrence.fixedRate(Duration.ofHours(1));
  private static final Recurrence HOURLY = Recurrence.cron(Cron.parse("@hourly"), ZoneOffset.UTC);
  private static final long HOUR = 3_600_000;

  @Example
  void neverFiresEarly() {
    for (MissedRuns missed : MissedRuns.values()) {
      assertThat(Decision.of(EVERY_HOUR, missed, GRACE, HOUR, HOUR - 1)).isEqualTo(waitUntil(HOUR));
    }
  }

  @Example
  void firesWithinTheGraceUnderAnyRule() {
    for (MissedRuns missed : MissedRuns.values()) {
      assertThat(Decision.of(EVERY_HOUR, missed, GRACE, HOUR, HOUR)).isEqualTo(fire(HOUR, false));
      assertThat(Decision.of(EVERY_HOUR, missed, GRACE, HOUR, HOUR + 1_000))
          .isEqualTo(fire(HOUR, false));
      assertThat(Decision.of(EVERY_HOUR, missed, GRACE, HOUR, HOUR + 1_001))
          .isEqualTo(fire(HOUR, true));
      assertThat(Decision.of(EVERY_HOUR, missed, GRACE, HOUR, HOUR + GRACE))
          .isEqualTo(fire(HOUR, true));
    }
  }

  @Example
  void firesOnceForAllThatWereMissed() {
    for (Recurrence hourly : List.of(EVERY_HOUR, HOURLY)) {
      // Four runs were missed; the fifth is in the future.
      Decision decision =
          Decision.of(hourly, MissedRuns.FIRE_ONCE, GRACE, HOUR, 4 * HOUR + HOUR / 2);
      assertThat(decision).isEqualTo(makeUp(4 * HOUR));
      assertThat(hourly.count(HOUR, decision.atMillis(), 1_000)).isEqualTo(3);
      // The fourth is within its grace: it runs in addition to the catch-up run for the others.
      assertThat(Decision.of(hourly, MissedRuns.FIRE_ONCE, GRACE, HOUR, 4 * HOUR + GRACE))
          .isEqualTo(makeUp(3 * HOUR));
    }
  }

  @Example
  void firesAllOneAfterTheOther() {
    for (Recurrence hourly : List.of(EVERY_HOUR, HOURLY)) {
      long now = 4 * HOUR + HOUR / 2;
      List<Long> runs = new ArrayList<>();
      Decision decision = Decision.of(hourly, MissedRuns.FIRE_ALL, GRACE, HOUR, now);
      while (decision.fires()) {
        assertThat(decision.catchUp()).isTrue();
        runs.add(decision.atMillis());
        long next = hourly.next(decision.atMillis(), now);
        decision = Decision.of(hourly, MissedRuns.FIRE_ALL, GRACE, next, now);
      }
      assertThat(runs).containsExactly(HOUR, 2 * HOUR, 3 * HOUR, 4 * HOUR);
      assertThat(decision).isEqualTo(waitUntil(5 * HOUR));
    }
  }

  @Example
  void firesTheLatestThousandOfMoreAndDropsTheRest() {
    for (Recurrence hourly : List.of(EVERY_HOUR, HOURLY)) {
      long now = 1_000 * HOUR + HOUR / 2;
      assertThat(Decision.of(hourly, MissedRuns.FIRE_ALL, GRACE, HOUR, now))
          .isEqualTo(makeUp(HOUR));
      Decision decision = Decision.of(hourly, MissedRuns.FIRE_ALL, GRACE, HOUR, now + 7 * HOUR);
      assertThat(decision).isEqualTo(makeUp(8 * HOUR));
      assertThat(hourly.count(HOUR, decision.atMillis(), 1_000)).isEqualTo(7);
    }
  }

  @Example
  void skipsMissedRuns() {
    for (Recurrence hourly : List.of(EVERY_HOUR, HOURLY)) {
      assertThat(Decision.of(hourly, MissedRuns.SKIP, GRACE, HOUR, 4 * HOUR + HOUR / 2))
          .isEqualTo(waitUntil(5 * HOUR));
      assertThat(Decision.of(hourly, MissedRuns.SKIP, GRACE, HOUR, 4 * HOUR + GRACE))
          .isEqualTo(fire(4 * HOUR, true));
      assertThat(Decision.of(hourly, MissedRuns.SKIP, GRACE, HOUR, 2 * HOUR))
          .isEqualTo(fire(2 * HOUR, false));
      assertThat(Decision.of(hourly, MissedRuns.SKIP, GRACE, HOUR, HOUR + GRACE + 1))
          .isEqualTo(waitUntil(2 * HOUR));
    }
  }

  @Example
  void alwaysFiresAOneShotAndFlagsItLate() {
    for (MissedRuns missed : MissedRuns.values()) {
      assertThat(Decision.of(Recurrence.once(), missed, GRACE, HOUR, 99 * HOUR))
          .isEqualTo(fire(HOUR, true));
      assertThat(Decision.of(Recurrence.once(), missed, 0, Long.MIN_VALUE, Long.MAX_VALUE))
          .isEqualTo(fire(Long.MIN_VALUE, true));
    }
  }

  @Example
  void startsAFixedDelayAgainWhenItsRunIsSkipped() {
    Recurrence delay = Recurrence.fixedDelay(Duration.ofHours(1));
    long now = 99 * HOUR + 5;
    assertThat(Decision.of(delay, MissedRuns.FIRE_ONCE, GRACE, HOUR, now)).isEqualTo(makeUp(HOUR));
    assertThat(Decision.of(delay, MissedRuns.FIRE_ALL, GRACE, HOUR, now)).isEqualTo(makeUp(HOUR));
    assertThat(Decision.of(delay, MissedRuns.SKIP, GRACE, HOUR, now))
        .isEqualTo(waitUntil(now + HOUR));
  }

  @Example
  void decidesAtTheLimitsOfTheTimeRange() {
    Recurrence rate = Recurrence.fixedRate(Duration.ofMillis(7));
    for (MissedRuns missed : MissedRuns.values()) {
      for (long now : new long[] {Long.MIN_VALUE, 0, Long.MAX_VALUE - 1, Long.MAX_VALUE}) {
        Decision decision = Decision.of(rate, missed, GRACE, Long.MIN_VALUE, now);
        assertThat(decision.atMillis() <= now).isEqualTo(decision.fires());
        assertThat(Decision.of(HOURLY, missed, Long.MAX_VALUE, now, now).fires()).isTrue();
      }
    }
    // All runs of a cron since the smallest time.
    assertThat(Decision.of(HOURLY, MissedRuns.FIRE_ONCE, GRACE, Long.MIN_VALUE, HOUR + GRACE + 1))
        .isEqualTo(makeUp(HOUR));
  }

  @Example
  void hasAGraceOfTwiceTheLeaseAtLeast() {
    Duration minute = Duration.ofMinutes(1);
    assertThat(Decision.DEFAULT_GRACE).isEqualTo(minute);
    assertThat(Decision.graceMillis(minute, Duration.ofSeconds(30))).isEqualTo(60_000);
    assertThat(Decision.graceMillis(minute, Duration.ofSeconds(31))).isEqualTo(62_000);
    assertThat(Decision.graceMillis(Duration.ZERO, Duration.ZERO)).isZero();
    assertThat(Decision.graceMillis(minute, Duration.ofSeconds(Long.MAX_VALUE)))
        .isEqualTo(Long.MAX_VALUE);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Decision.graceMillis(minute.negated(), minute))
        .withMessage("grace: PT-1M; expected zero or more");
  }

  /** After a long outage, each run is fired or dropped according to the rule. */
  @Property
  void appliesTheRuleToEveryRun(
      @ForAll MissedRuns missed,
      @ForAll @IntRange(min = 1, max = 50) int period,
      @ForAll @IntRange(min = 0, max = 200) int grace,
      @ForAll @IntRange(min = 0, max = 5_000) int now,
      @ForAll @IntRange(min = 0, max = 10_000) int end,
      @ForAll boolean cron) {
    Recurrence endless =
        cron
            ? Recurrence.cron(Cron.parse("*/%d * * * * *".formatted(period)), ZoneOffset.UTC)
            : Recurrence.fixedRate(Duration.ofSeconds(period));
    Recurrence recurrence = endless.ending(end * 1_000L, Recurrence.UNLIMITED);
    List<Long> due = new ArrayList<>();
    for (long run = 0; run <= now * 1_000L; run = recurrence.next(run, run)) {
      due.add(run);
    }
    List<Long> missedRuns =
        due.stream().filter(run -> now * 1_000L - run > grace * 1_000L).toList();
    int kept =
        switch (missed) {
          case FIRE_ONCE -> Math.min(1, missedRuns.size());
          case FIRE_ALL -> Math.min(Decision.MAX_MISSED, missedRuns.size());
          case SKIP -> 0;
        };
    List<Long> expected = due.subList(missedRuns.size() - kept, due.size());

    List<Long> fired = new ArrayList<>();
    long dropped = 0;
    long dueMillis = 0;
    while (dueMillis <= now * 1_000L) {
      Decision decision = Decision.of(recurrence, missed, grace * 1_000L, dueMillis, now * 1_000L);
      if (decision.atMillis() > dueMillis) {
        dropped += recurrence.count(dueMillis, decision.atMillis(), Long.MAX_VALUE);
      }
      if (decision.fires()) {
        fired.add(decision.atMillis());
        assertThat(decision.catchUp()).isEqualTo(missedRuns.contains(decision.atMillis()));
      }
      dueMillis =
          decision.fires()
              ? recurrence.next(decision.atMillis(), now * 1_000L)
              : decision.atMillis();
    }
    assertThat(fired).isEqualTo(expected);
    assertThat(dropped).isEqualTo(missedRuns.size() - kept);
  }

  private static Decision waitUntil(long atMillis) {
    return new Decision(false, atMillis, false, false);
  }

  private static Decision fire(long atMillis, boolean late) {
    return new Decision(true, atMillis, late, false);
  }

  private static Decision makeUp(long atMillis) {
    return new Decision(true, atMillis, true, true);
  }
}
