// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Verifies the rule for daylight saving with examples and with every transition of every zone. */
@Tag("promise-50")
class CronDaylightSavingTest {
  private static final Instant FIRST = Instant.parse("1990-01-01T00:00:00Z");
  private static final Instant LAST = Instant.parse("2038-01-01T00:00:00Z");

  private record Watched(String text, Predicate<LocalDateTime> matches, boolean everyHour) {}

  private static final List<Watched> WATCHED =
      List.of(
          new Watched("30 2 * * *", t -> t.getHour() == 2 && t.getMinute() == 30, false),
          new Watched("0 0 * * *", t -> t.getHour() == 0 && t.getMinute() == 0, false),
          new Watched("0 */2 * * *", t -> t.getHour() % 2 == 0 && t.getMinute() == 0, false),
          new Watched("*/20 0-3 * * *", t -> t.getHour() <= 3 && t.getMinute() % 20 == 0, false),
          new Watched("*/7 1-23 * * *", t -> t.getHour() >= 1 && t.getMinute() % 7 == 0, false),
          new Watched(
              "59 22-3 * * *", t -> (t.getHour() + 2) % 24 <= 5 && t.getMinute() == 59, false),
          new Watched("15 * 1,L * *", t -> isFirstOrLast(t) && t.getMinute() == 15, true),
          new Watched(
              "0 1 * * SUN", t -> isSunday(t) && t.getHour() == 1 && t.getMinute() == 0, false),
          new Watched("*/10 * * * *", t -> t.getMinute() % 10 == 0, true),
          new Watched("30 * * * *", t -> t.getMinute() == 30, true),
          new Watched("45 */1 * * *", t -> t.getMinute() == 45, true),
          new Watched("* 0-23 * * *", t -> true, true));

  private static boolean isFirstOrLast(LocalDateTime time) {
    return time.getDayOfMonth() == 1 || time.plusDays(1).getDayOfMonth() == 1;
  }

  private static boolean isSunday(LocalDateTime time) {
    return time.getDayOfWeek() == DayOfWeek.SUNDAY;
  }

  @Test
  void followsTheRuleAtEveryTransitionOfEveryZone() {
    Set<String> seen = new HashSet<>();
    int transitions = 0;
    for (String id : ZoneId.getAvailableZoneIds()) {
      ZoneRules rules = ZoneId.of(id).getRules();
      ZoneOffsetTransition transition = rules.nextTransition(FIRST);
      while (transition != null && transition.getInstant().isBefore(LAST)) {
        // Many zones change at the same instant in the same way.
        String key = transition + " " + rules.nextTransition(transition.getInstant());
        if (seen.add(key)) {
          checkAround(transition.getInstant(), id, rules);
        }
        transitions++;
        transition = rules.nextTransition(transition.getInstant());
      }
    }
    assertThat(transitions).isGreaterThan(20_000);
    assertThat(seen).hasSizeGreaterThan(1_000);
  }

  private static void checkAround(Instant transition, String zone, ZoneRules rules) {
    Instant from = transition.minus(Duration.ofHours(4));
    Instant until = transition.plus(Duration.ofHours(4));
    // Overlaps are shorter than these four hours, so the clock is read from before any of them.
    List<Instant> minutes =
        Stream.iterate(from.minus(Duration.ofHours(4)), t -> t.plusSeconds(60))
            .takeWhile(t -> !t.isAfter(until))
            .toList();
    List<LocalDateTime> shown =
        minutes.stream().map(t -> LocalDateTime.ofInstant(t, rules.getOffset(t))).toList();
    for (Watched watched : WATCHED) {
      List<Instant> runs = new ArrayList<>();
      Cron cron = Cron.parse(watched.text);
      long run = cron.nextMillis(from.toEpochMilli(), rules);
      while (run <= until.toEpochMilli()) {
        runs.add(Instant.ofEpochMilli(run));
        run = cron.nextMillis(run, rules);
      }
      assertThat(runs)
          .as("%s in %s around %s", watched.text, zone, transition)
          .isEqualTo(runsOnAClock(watched, minutes, shown, from));
    }
  }

  /**
   * Returns the runs by reading a wall clock minute by minute, without knowledge of transitions.
   */
  private static List<Instant> runsOnAClock(
      Watched watched, List<Instant> minutes, List<LocalDateTime> clock, Instant from) {
    List<Instant> runs = new ArrayList<>();
    LocalDateTime latest = clock.get(0);
    for (int i = 1; i < clock.size(); i++) {
      LocalDateTime shown = clock.get(i);
      boolean isNew = shown.isAfter(latest);
      boolean due = watched.matches.test(shown) && (watched.everyHour || isNew);
      if (isNew) {
        for (LocalDateTime t = latest.plusMinutes(1); t.isBefore(shown); t = t.plusMinutes(1)) {
          due |= watched.matches.test(t);
        }
        latest = shown;
      }
      if (due && minutes.get(i).isAfter(from)) {
        runs.add(minutes.get(i));
      }
    }
    return runs;
  }

  @ParameterizedTest
  @CsvSource({
    // A daily run in the gap is at its end, and a day later at its own time again.
    "30 2 * * *, Europe/Berlin, 2026-03-28T12:00+01:00, 2026-03-29T03:00+02:00"
        + " 2026-03-30T02:30+02:00",
    // Several runs in the gap become one, also together with a run at the end of the gap.
    "*/15 2-3 * * *, Europe/Berlin, 2026-03-29T01:00+01:00, 2026-03-29T03:00+02:00"
        + " 2026-03-29T03:15+02:00",
    "30 * * * *, Europe/Berlin, 2026-03-29T01:00+01:00, 2026-03-29T01:30+01:00"
        + " 2026-03-29T03:00+02:00 2026-03-29T03:30+02:00",
    // A gap at midnight, one of half an hour, and one of a whole day.
    "0 0 * * *, Africa/Cairo, 2025-04-24T12:00+02:00, 2025-04-25T01:00+03:00"
        + " 2025-04-26T00:00+03:00",
    "15 2 * * *, Australia/Lord_Howe, 2026-10-03T12:00+10:30, 2026-10-04T02:30+11:00"
        + " 2026-10-05T02:15+11:00",
    "0 9 * * *, Pacific/Apia, 2011-12-29T09:00-10:00, 2011-12-31T00:00+14:00"
        + " 2011-12-31T09:00+14:00",
    // A daily run in the overlap is at the first occurrence, not at the second.
    "30 2 * * *, Europe/Berlin, 2026-10-24T12:00+02:00, 2026-10-25T02:30+02:00"
        + " 2026-10-26T02:30+01:00",
    "30 2 * * *, Europe/Berlin, 2026-10-25T02:10+01:00, 2026-10-26T02:30+01:00",
    "0 */2 * * *, Europe/Berlin, 2026-10-25T00:30+02:00, 2026-10-25T02:00+02:00"
        + " 2026-10-25T04:00+01:00",
    // A run every half hour includes both hours.
    "*/30 * * * *, Europe/Berlin, 2026-10-25T02:15+02:00, 2026-10-25T02:30+02:00"
        + " 2026-10-25T02:00+01:00 2026-10-25T02:30+01:00 2026-10-25T03:00+01:00",
    "45 * * * *, Australia/Lord_Howe, 2026-04-05T01:15+11:00, 2026-04-05T01:45+11:00"
        + " 2026-04-05T01:45+10:30 2026-04-05T02:45+10:30",
    // To the second.
    "59 59 * * * *, Europe/Berlin, 2026-10-25T02:00+02:00, 2026-10-25T02:59:59+02:00"
        + " 2026-10-25T02:59:59+01:00 2026-10-25T03:59:59+01:00",
    "*/59 59 2 * * *, Europe/Berlin, 2026-10-25T02:59:00+02:00, 2026-10-25T02:59:59+02:00"
        + " 2026-10-26T02:59+01:00",
  })
  void followsTheDaylightSavingRule(String text, ZoneId zone, String after, String expected) {
    Cron cron = Cron.parse(text);
    Instant time = OffsetDateTime.parse(after).toInstant();
    List<String> runs = new ArrayList<>();
    for (int i = 0; i < expected.split(" ").length; i++) {
      time = cron.next(time, zone).orElseThrow();
      runs.add(time.atZone(zone).toOffsetDateTime().toString());
    }
    assertThat(runs).containsExactly(expected.split(" "));
  }
}
