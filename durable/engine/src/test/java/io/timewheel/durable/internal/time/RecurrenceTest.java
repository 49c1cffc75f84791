// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.timewheel.durable.model.InvalidArgumentException;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.Shards;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("promise-50")
class RecurrenceTest {
  private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");
  private static final Recurrence WEEKDAYS_AT_NINE =
      Recurrence.cron(Cron.parse("0 9 * * MON-FRI"), BERLIN);

  @Example
  void hasAStoredForm() {
    assertThat(Recurrence.once()).hasToString("once");
    assertThat(Recurrence.fixedRate(Duration.ofMinutes(5))).hasToString("every PT5M");
    assertThat(Recurrence.fixedDelay(Duration.ofSeconds(90))).hasToString("delay PT1M30S");
    assertThat(WEEKDAYS_AT_NINE).hasToString("cron 0 9 * * MON-FRI Europe/Berlin");
    assertThat(Recurrence.cron(Cron.parse("@daily"), ZoneOffset.ofHours(2)))
        .hasToString("cron 0 0 * * * +02:00");
  }

  @Example
  void parsesAFormOnce() {
    String text = "cron 0 9 * * MON-FRI Europe/Berlin";
    assertThat(Recurrence.parse(text)).isSameAs(Recurrence.parse(text));
  }

  @Example
  void parsesMoreFormsThanItRemembers() {
    for (int seconds = 1; seconds <= 2_500; seconds++) {
      assertThat(Recurrence.parse("every PT" + seconds + "S"))
          .isEqualTo(Recurrence.fixedRate(Duration.ofSeconds(seconds)));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "once",
        "every PT5M",
        "every PT0.001S",
        "every PT2562047788015H12M55.807S",
        "delay PT1M30S",
        "cron 0 9 * * MON-FRI Europe/Berlin",
        "cron */10 0 9 ? * 1#2,FRIL UTC+01:00",
        "cron 0 0 1,15,LW * * Z",
        "every PT5M from 2026-05-01T00:00:00Z",
        "delay PT5M from -271821-04-20T00:00:00.001Z",
        "cron 0 9 * * MON-FRI Europe/Berlin from +292278994-08-17T07:12:55.806Z",
        "jitter PT5M PT0S every PT5M",
        "jitter PT24H PT23H59M59.999S cron 0 9 * * MON-FRI Europe/Berlin",
        "jitter PT5M PT1M2.345S every PT1H from 2026-05-01T00:00:00Z",
        "times 10 every PT5M",
        "until 2027-01-01T00:00:00Z delay PT5M",
        "times 1 until 2027-01-01T00:00:00.001Z cron 0 9 * * MON-FRI Europe/Berlin",
        "times 9223372036854775806 until +292278994-08-17T07:12:55.806Z jitter PT5M PT1M every PT1H"
      })
  void isReadBackFromTheStoredForm(String text) {
    Recurrence recurrence = Recurrence.parse(text);
    assertThat(recurrence).hasToString(text);
    Recurrence again = Recurrence.parse(recurrence.toString());
    assertThat(again).isEqualTo(recurrence).hasSameHashCodeAs(recurrence);
  }

  @Example
  void parsesEquivalentTexts() {
    assertThat(Recurrence.parse(" cron  0  9 * * mon-fri   Europe/Berlin "))
        .isEqualTo(WEEKDAYS_AT_NINE);
    assertThat(Recurrence.parse("cron @hourly UTC")).hasToString("cron 0 * * * * UTC");
    assertThat(Recurrence.parse("every pt300s")).hasToString("every PT5M");
    assertThat(WEEKDAYS_AT_NINE).isNotEqualTo(Recurrence.once()).isNotEqualTo("once");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          ''                        | recurrence '': unknown form ''; expected once, every, delay, cron, jitter, times or until
          hourly                    | unknown form 'hourly'; expected once, every, delay, cron, jitter, times or until
          cron2 whatever            | unknown form 'cron2'; expected
          once more                 | expected nothing after once
          once from 2026-05-01T00:00:00Z | expected nothing after once
          every PT5M from May       | time 'May' is not valid; expected one like 2026-05-01T00:00:00Z
          every                     | duration '' is not valid; expected one like PT5M
          every 5m                  | duration '5m' is not valid; expected one like PT5M
          every PT99999999999999999999S | is not valid; expected one like PT5M
          every PT0S                | period: PT0S; expected more than zero
          delay PT-5M               | delay: PT-5M; expected more than zero
          cron                      | expected the fields of a cron and a zone
          cron @daily               | expected the fields of a cron and a zone
          cron 0 9 * * * Mars/Base  | zone 'Mars/Base' is not known; expected one like Europe/Berlin
          cron 0 9 * * MON          | zone 'MON' is not known; expected one like Europe/Berlin
          cron 0 9 * * MO UTC       | cron '0 9 * * MO': field day-of-week
          jitter PT5M every PT1H    | duration 'every' is not valid; expected one like PT5M
          jitter PT5M PT1M          | expected two durations and a recurrence after jitter
          jitter PT5M PT5M every PT1H | offset PT5M is out of range; expected zero or more, and less than PT5M
          jitter PT5M PT-1S every PT1H | offset PT-1S is out of range
          jitter PT0S PT0S every PT1H | jitter: PT0S; expected more than zero
          jitter PT5M PT0S every PT4M | jitter: PT5M is too long (maximum: PT4M, the period)
          jitter PT24H0.001S PT0S every PT99H | jitter: PT24H0.001S is too long (maximum: PT24H)
          jitter PT25H PT0S cron @daily UTC | jitter: PT25H is too long (maximum: PT24H)
          jitter PT1M PT0S once     | jitter: PT1M for once (expected: only with a fixed rate or a cron)
          jitter PT1M PT0S delay PT5M | jitter: PT1M for delay PT5M (expected
          times 0 every PT5M        | times: 0 (minimum: 1)
          times x every PT5M        | number 'x' is not valid; expected one like 10
          times 5                   | expected a number after times, a time after until, and a recurrence
          until                     | expected a number after times, a time after until, and a recurrence
          until May every PT5M      | time 'May' is not valid; expected one like 2026-05-01T00:00:00Z
          times 5 until 2027-01-01T00:00:00Z | expected a number after times, a time after until, and a recurrence
          times 5 once              | until or times for once (expected: only with a fixed rate, a fixed delay or a cron)
          times 5 times 4 every PT5M | until or times for times 4 every PT5M (expected
          jitter PT1M PT0S times 4 every PT5M | jitter: PT1M for times 4 every PT5M (expected
          jitter PT1M PT0S jitter PT1M PT0S every PT5M | jitter: PT1M for jitter PT1M PT0S every PT5M (expected
          """)
  void refusesInvalidTextWithAReason(String text, String problem) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Recurrence.parse(text))
        .withMessageContaining(problem);
  }

  @Property
  void readsAnyTextOrRefusesItAsAnIllegalArgument(
      @ForAll("forms") String form, @ForAll String rest, @ForAll boolean huge) {
    String text = form + rest.repeat(huge ? 1_000 : 1);
    try {
      assertThat(Recurrence.parse(text).toString()).isNotEmpty();
    } catch (IllegalArgumentException e) {
      assertThat(e.getClass()).isEqualTo(InvalidArgumentException.class);
      assertThat(e.getMessage()).hasSizeLessThan(2_500);
    }
  }

  @Provide
  Arbitrary<String> forms() {
    return Arbitraries.of(
        "",
        "once",
        "once ",
        "every ",
        "every PT",
        "delay P",
        "cron ",
        "cron 0 9 * * * ",
        "jitter PT1M PT1S ",
        "times 5 ",
        "until 2027-01-01T00:00:00Z ");
  }

  @Example
  void refusesAPeriodThatIsNotPositive() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Recurrence.fixedRate(Duration.ZERO))
        .withMessage("period: PT0S; expected more than zero");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Recurrence.fixedDelay(Duration.ofNanos(-1)))
        .withMessage("delay: PT-0.000000001S; expected more than zero");
    assertThatNullPointerException()
        .isThrownBy(() -> Recurrence.fixedRate(null))
        .withMessage("period");
  }

  @Example
  void roundsAPeriodUpToMilliseconds() {
    assertThat(Recurrence.fixedRate(Duration.ofNanos(1))).hasToString("every PT0.001S");
    assertThat(Recurrence.fixedDelay(Duration.ofNanos(1_000_001))).hasToString("delay PT0.002S");
  }

  @Example
  void countsARateFromTheScheduleAndADelayFromTheEnd() {
    assertThat(Recurrence.fixedRate(Duration.ofMillis(10)).next(100, 105)).isEqualTo(110);
    assertThat(Recurrence.fixedRate(Duration.ofMillis(10)).next(100, 555)).isEqualTo(110);
    assertThat(Recurrence.fixedDelay(Duration.ofMillis(10)).next(100, 105)).isEqualTo(115);
    assertThat(Recurrence.once().next(100, 105)).isEqualTo(EpochMillis.NEVER);
    long monday = Instant.parse("2026-11-23T08:00:00Z").toEpochMilli();
    assertThat(WEEKDAYS_AT_NINE.next(monday, monday + 99_000_000)).isEqualTo(monday + 86_400_000);
  }

  @Example
  void noRunThatFollowsAMovedOneIsBeforeTheStart() {
    long start = Instant.parse("2026-06-01T00:00:00Z").toEpochMilli();
    long first = Instant.parse("2026-06-01T07:00:00Z").toEpochMilli();
    long moved = Instant.parse("2026-05-04T12:00:00Z").toEpochMilli();
    Recurrence weekdays = WEEKDAYS_AT_NINE.from(start);
    assertThat(weekdays.next(moved, moved)).isEqualTo(first);
    assertThat(weekdays.next(first, first)).isEqualTo(first + 86_400_000);
    assertThat(weekdays.count(moved, first + 1, 100)).isEqualTo(2);
    assertThat(weekdays.fromEnd(1, moved, first)).isEqualTo(moved);
    assertThat(Recurrence.fixedRate(Duration.ofHours(1)).from(start).next(moved, moved))
        .isEqualTo(start);
    Recurrence delay = Recurrence.fixedDelay(Duration.ofHours(1)).from(start);
    assertThat(delay.next(moved, moved + 5)).isEqualTo(start);
    assertThat(delay.next(moved, start)).isEqualTo(start + 3_600_000);
  }

  @Example
  void saturatesAtNever() {
    Recurrence forever = Recurrence.fixedRate(Duration.ofSeconds(Long.MAX_VALUE));
    assertThat(forever.next(1, 1)).isEqualTo(EpochMillis.NEVER);
    assertThat(forever.preview(Instant.EPOCH, 5)).isEmpty();
    Recurrence delay = Recurrence.fixedDelay(Duration.ofDays(1));
    assertThat(delay.next(0, Long.MAX_VALUE - 1)).isEqualTo(EpochMillis.NEVER);
    assertThat(WEEKDAYS_AT_NINE.next(Long.MAX_VALUE, 0)).isEqualTo(EpochMillis.NEVER);
    assertThat(WEEKDAYS_AT_NINE.preview(Instant.MAX, 5)).isEmpty();
    assertThat(WEEKDAYS_AT_NINE.preview(Instant.MIN, 5)).hasSize(5);
    assertThat(Recurrence.fixedRate(Duration.ofDays(1)).preview(Instant.MIN, 2)).hasSize(2);
  }

  @Example
  void previewsTheRunsToCome() {
    Instant friday = Instant.parse("2026-10-23T07:00:00Z");
    assertThat(WEEKDAYS_AT_NINE.preview(friday, 2))
        .containsExactly(
            Instant.parse("2026-10-26T08:00:00Z"), Instant.parse("2026-10-27T08:00:00Z"));
    assertThat(Recurrence.fixedDelay(Duration.ofHours(1)).preview(friday, 2))
        .containsExactly(friday.plusSeconds(3_600), friday.plusSeconds(7_200));
    assertThat(Recurrence.once().preview(friday, 5)).isEmpty();
    assertThat(WEEKDAYS_AT_NINE.preview(friday, 0)).isEmpty();
    assertThat(WEEKDAYS_AT_NINE.preview(friday, 1_000)).hasSize(1_000);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> WEEKDAYS_AT_NINE.preview(friday, 1_001))
        .withMessage("count: 1001; expected 0 to 1,000");
    assertThatIllegalArgumentException().isThrownBy(() -> WEEKDAYS_AT_NINE.preview(friday, -1));
  }

  @Property
  void previewsTheRunsThatNextReturns(@ForAll long seed) {
    Random random = new Random(seed);
    Recurrence recurrence = any(random);
    Instant time = Instant.ofEpochMilli(random.nextLong(1L << 42));
    List<Instant> expected = new ArrayList<>();
    long run = time.toEpochMilli();
    for (int i = 0; i < 5; i++) {
      run = recurrence.next(run, run);
      expected.add(Instant.ofEpochMilli(run));
    }
    assertThat(recurrence.preview(time, 5)).isEqualTo(expected);
  }

  @Property
  void countsRunsAndFindsThemFromTheEndAsAWalkDoes(@ForAll long seed) {
    Random random = new Random(seed);
    long from = random.nextLong(1L << 42);
    long until = from + 1 + random.nextLong(1L << random.nextInt(1, 36));
    Recurrence recurrence = any(random);
    if (random.nextBoolean()) {
      long start = from + random.nextLong(1L << random.nextInt(1, 36));
      recurrence = recurrence.from(start); // the start of the schedule is after a moved run
    }
    if (random.nextBoolean()) {
      long end = from - 5 + random.nextLong(1L << random.nextInt(1, 36));
      recurrence = recurrence.ending(end, Recurrence.UNLIMITED);
    }
    List<Long> walked = new ArrayList<>();
    long run = from;
    while (run < until && walked.size() < 5_000) {
      walked.add(run);
      run = recurrence.next(run, Math.max(run, until));
    }
    if (walked.size() == 5_000) {
      return;
    }
    int limit = 1 + random.nextInt(2 * walked.size());
    assertThat(recurrence.count(from, until, limit)).isEqualTo(Math.min(limit, walked.size()));
    int nth = 1 + random.nextInt(2 * walked.size());
    assertThat(recurrence.fromEnd(nth, from, until))
        .isEqualTo(walked.get(Math.max(0, walked.size() - nth)));
  }

  @Property
  void countsARateOverAnySpan(
      @ForAll long a, @ForAll long b, @ForAll @LongRange(min = 1) long period) {
    long from = Math.min(a, b);
    long until = Math.max(a, b);
    if (from == until) {
      return;
    }
    Recurrence rate = Recurrence.fixedRate(Duration.ofMillis(period));
    long last = rate.fromEnd(1, from, until);
    assertThat(last).isBetween(from, until - 1);
    assertThat(rate.next(last, last)).isGreaterThanOrEqualTo(until);
    assertThat(rate.fromEnd(2, from, until)).isBetween(from, last);
    assertThat(rate.count(from, until, 1_000)).isBetween(1L, 1_000L);
  }

  @Property
  void aJitterMovesAllRunsByOneOffset(@ForAll long seed) {
    Random random = new Random(seed);
    Recurrence plain = random.nextBoolean() ? anyRate(random) : anyCron(random);
    if (random.nextBoolean()) {
      plain = plain.from(random.nextLong(1L << 42));
    }
    long jitter = 1 + random.nextLong(Math.min(plain.maxJitterMillis(), 3_600_000));
    Recurrence moved = plain.jittered(Duration.ofMillis(jitter), random.nextLong());
    long now = random.nextLong(1L << 42);
    long first = moved.first(now);
    long offset = offset(moved);
    assertThat(offset).isBetween(0L, jitter - 1);
    assertThat(moved.preview(Instant.ofEpochMilli(first), 20))
        .isEqualTo(
            plain.preview(Instant.ofEpochMilli(first - offset), 20).stream()
                .map(run -> run.plusMillis(offset))
                .toList());
    assertThat(Recurrence.parse(moved.toString()).preview(Instant.ofEpochMilli(first), 20))
        .isEqualTo(moved.preview(Instant.ofEpochMilli(first), 20));
    long until = first + 1 + random.nextLong(1L << random.nextInt(1, 36));
    int nth = 1 + random.nextInt(50);
    assertThat(moved.count(first, until, 100))
        .isEqualTo(plain.count(first - offset, until - offset, 100));
    assertThat(moved.fromEnd(nth, first, until))
        .isEqualTo(plain.fromEnd(nth, first - offset, until - offset) + offset);
  }

  private static long offset(Recurrence jittered) {
    return Duration.parse(jittered.toString().split(" ", 4)[2]).toMillis();
  }

  @Example
  void theFirstRunOfARateComesAfterAPeriodAndTheOffset() {
    Recurrence moved = Recurrence.parse("jitter PT10M PT7M every PT1H");
    assertThat(moved.first(0)).isEqualTo(67 * 60_000);
    assertThat(moved.next(67 * 60_000, 70 * 60_000)).isEqualTo(127 * 60_000);
  }

  @Example
  void aCronThatIsScheduledWithinItsOffsetHasTheRunOfThatTime() {
    Recurrence moved = Recurrence.parse("jitter PT10M PT7M cron 0 * * * * UTC");
    assertThat(moved.first(62 * 60_000)).isEqualTo(67 * 60_000);
    assertThat(moved.first(67 * 60_000)).isEqualTo(127 * 60_000);
    assertThat(moved.first(69 * 60_000)).isEqualTo(127 * 60_000);
  }

  @Example
  void noGivenFirstRunIsBeforeItsTimeAndTheOffset() {
    long start = Instant.parse("2026-06-01T00:00:00Z").toEpochMilli();
    assertThat(Recurrence.parse("jitter PT1H PT7M every PT1H").from(start).maxJitterMillis())
        .isZero(); // the jitter is the outer form
    String from = " from 2026-06-01T00:00:00Z";
    assertThat(Recurrence.parse("jitter PT1H PT7M every PT1H" + from).first(0))
        .isEqualTo(start + 7 * 60_000);
    assertThat(Recurrence.parse("jitter PT1H PT7M cron 30 * * * * UTC" + from).first(0))
        .isEqualTo(start + 37 * 60_000);
  }

  /** The offset is elapsed time, so daylight saving does not change it. */
  @ParameterizedTest
  @CsvSource({
    "2026-03-28T12:00:00Z, 2026-03-29T01:20:00Z", // 02:30 is skipped: 03:00 plus 20 minutes
    "2026-10-24T12:00:00Z, 2026-10-25T00:50:00Z" // 02:30 occurs twice: after the first
  })
  void theOffsetFollowsTheRunThatDaylightSavingHasMoved(Instant now, Instant run) {
    Recurrence moved = Recurrence.parse("jitter PT1H PT20M cron 30 2 * * * Europe/Berlin");
    assertThat(Instant.ofEpochMilli(moved.first(now.toEpochMilli()))).isEqualTo(run);
  }

  @Example
  void spreadsOffsetsOverTheJitter() {
    Recurrence hourly = Recurrence.fixedRate(Duration.ofHours(1));
    Duration jitter = Duration.ofMinutes(10);
    int[] perMinute = new int[10];
    for (int i = 0; i < 10_000; i++) {
      long hash = Shards.hash(new TimerKey("shop", "order-" + i));
      perMinute[(int) (offset(hourly.jittered(jitter, hash)) / 60_000)]++;
    }
    assertThat(Arrays.stream(perMinute).boxed())
        .allSatisfy(count -> assertThat(count).isBetween(850, 1_150));
  }

  @Example
  void aJitterSaturatesAtNever() {
    Recurrence moved = Recurrence.parse("jitter PT1H PT59M cron 0 9 * * MON-FRI Europe/Berlin");
    assertThat(moved.next(Long.MAX_VALUE, 0)).isEqualTo(EpochMillis.NEVER);
    assertThat(moved.preview(Instant.MAX, 5)).isEmpty();
    assertThat(moved.preview(Instant.MIN, 5)).hasSize(5);
    Recurrence forever = Recurrence.fixedRate(Duration.ofSeconds(Long.MAX_VALUE));
    assertThat(forever.jittered(Duration.ofHours(1), 59).next(1, 1)).isEqualTo(EpochMillis.NEVER);
  }

  @Property
  void anEndKeepsTheTimesOfTheRunsBeforeIt(@ForAll long seed) {
    Random random = new Random(seed);
    Recurrence plain = any(random);
    long now = random.nextLong(1L << 42);
    long until = plain.first(now) - 5 + random.nextLong(1L << random.nextInt(1, 34));
    int times = 1 + random.nextInt(30);
    List<Long> expected = new ArrayList<>();
    for (long run = plain.first(now);
        run < until && expected.size() < times;
        run = plain.next(run, run)) {
      expected.add(run);
    }

    Recurrence ending = plain.ending(until, times);

    List<Long> runs = new ArrayList<>();
    for (long run = ending.first(now);
        run != EpochMillis.NEVER;
        run = ending.next(run, run, runs.size() - 1)) {
      runs.add(run);
    }
    assertThat(runs).isEqualTo(expected);
    assertThat(Recurrence.parse(ending.toString())).isEqualTo(ending);
    assertThat(plain.ending(EpochMillis.NEVER, times).left(runs.size()))
        .isEqualTo(times - runs.size());
  }

  private static Recurrence any(Random random) {
    return switch (random.nextInt(3)) {
      case 0 -> anyRate(random);
      case 1 -> Recurrence.fixedDelay(Duration.ofMillis(1 + random.nextInt(1_000_000)));
      default -> anyCron(random);
    };
  }

  private static Recurrence anyRate(Random random) {
    return Recurrence.fixedRate(Duration.ofMillis(1 + random.nextInt(1_000_000)));
  }

  private static Recurrence anyCron(Random random) {
    return Recurrence.cron(
        Cron.parse(random.nextInt(60) + " */" + (1 + random.nextInt(24)) + " * * *"), BERLIN);
  }
}
