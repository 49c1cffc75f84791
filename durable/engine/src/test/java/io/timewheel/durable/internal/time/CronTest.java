// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("promise-50")
class CronTest {
  /** A Thursday. */
  private static final Instant NEW_YEAR = Instant.parse("2026-01-01T00:00:00Z");

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          30 8 * * *           | 2026-01-01T08:30 2026-01-02T08:30
          */20 * * * *         | 2026-01-01T00:20 2026-01-01T00:40 2026-01-01T01:00
          5/20 * * * *         | 2026-01-01T00:05 2026-01-01T00:25 2026-01-01T00:45 2026-01-01T01:05
          0 8-18/5 * * *       | 2026-01-01T08:00 2026-01-01T13:00 2026-01-01T18:00 2026-01-02T08:00
          0 1,3,22-23 * * *    | 2026-01-01T01:00 2026-01-01T03:00 2026-01-01T22:00 2026-01-01T23:00
          0 22-1 * * *         | 2026-01-01T01:00 2026-01-01T22:00 2026-01-01T23:00 2026-01-02T00:00
          0 22-4/3 * * *       | 2026-01-01T01:00 2026-01-01T04:00 2026-01-01T22:00
          0 0 1 NOV-FEB *      | 2026-02-01T00:00 2026-11-01T00:00 2026-12-01T00:00 2027-01-01T00:00
          0 0 * * MON-FRI      | 2026-01-02T00:00 2026-01-05T00:00 2026-01-06T00:00
          0 0 * * fri-mon      | 2026-01-02T00:00 2026-01-03T00:00 2026-01-04T00:00 2026-01-05T00:00 2026-01-09T00:00
          0 0 * * 5-7          | 2026-01-02T00:00 2026-01-03T00:00 2026-01-04T00:00 2026-01-09T00:00
          0 0 * * 7-1          | 2026-01-04T00:00 2026-01-05T00:00 2026-01-11T00:00
          0 0 * * SUN-SUN      | 2026-01-02T00:00 2026-01-03T00:00 2026-01-04T00:00
          0 0 * * 4-SUN        | 2026-01-02T00:00 2026-01-03T00:00 2026-01-04T00:00 2026-01-08T00:00
          0 0 * * 0            | 2026-01-04T00:00 2026-01-11T00:00
          0 0 * * 7            | 2026-01-04T00:00 2026-01-11T00:00
          0 0 * * FRI/2        | 2026-01-02T00:00 2026-01-04T00:00 2026-01-09T00:00
          0 0 * * 7/2          | 2026-01-04T00:00 2026-01-11T00:00
          0 0 * * */5          | 2026-01-02T00:00 2026-01-04T00:00 2026-01-09T00:00
          0 0 * * 0-7          | 2026-01-02T00:00 2026-01-03T00:00 2026-01-04T00:00
          0 0 ? * ?            | 2026-01-02T00:00 2026-01-03T00:00
          0 0 29 FEB *         | 2028-02-29T00:00 2032-02-29T00:00
          0 0 L * *            | 2026-01-31T00:00 2026-02-28T00:00 2026-03-31T00:00
          0 0 L-3 * *          | 2026-01-28T00:00 2026-02-25T00:00
          0 0 L-30 * *         | 2026-03-01T00:00 2026-05-01T00:00
          0 0 15W * *          | 2026-01-15T00:00 2026-02-16T00:00 2026-03-16T00:00
          0 0 14W * *          | 2026-01-14T00:00 2026-02-13T00:00
          0 0 1W 8 *           | 2026-08-03T00:00
          0 0 31W 1,2,5 *      | 2026-01-30T00:00 2026-05-29T00:00
          0 0 LW * *           | 2026-01-30T00:00 2026-02-27T00:00
          0 0 1,15,LW * *      | 2026-01-15T00:00 2026-01-30T00:00 2026-02-01T00:00
          0 0 * * FRIL         | 2026-01-30T00:00 2026-02-27T00:00
          0 0 * * 7L           | 2026-01-25T00:00 2026-02-22T00:00
          0 0 * * MON#1,FRI#2  | 2026-01-05T00:00 2026-01-09T00:00 2026-02-02T00:00
          0 0 * * 4#5          | 2026-01-29T00:00 2026-04-30T00:00
          0 0 13 * FRI         | 2026-01-02T00:00 2026-01-09T00:00 2026-01-13T00:00 2026-01-16T00:00
          0 0 30 2 MON         | 2026-02-02T00:00
          0 0 */2 * MON        | 2026-01-05T00:00 2026-01-19T00:00 2026-02-09T00:00
          0 0 13 * */5         | 2026-02-13T00:00 2026-03-13T00:00 2026-09-13T00:00
          0 0 12 * * *         | 2026-01-01T12:00 2026-01-02T12:00
          */40 0 0 * * *       | 2026-01-01T00:00:40 2026-01-02T00:00 2026-01-02T00:00:40
          5-6 59 23 31 12 *    | 2026-12-31T23:59:05 2026-12-31T23:59:06 2027-12-31T23:59:05
          0 0 0 13 * ?         | 2026-01-13T00:00 2026-02-13T00:00
          @yearly              | 2027-01-01T00:00 2028-01-01T00:00
          @annually            | 2027-01-01T00:00
          @monthly             | 2026-02-01T00:00 2026-03-01T00:00
          @weekly              | 2026-01-04T00:00 2026-01-11T00:00
          @daily               | 2026-01-02T00:00 2026-01-03T00:00
          @Midnight            | 2026-01-02T00:00
          @hourly              | 2026-01-01T01:00 2026-01-01T02:00
          """)
  void runsAtTheTimesThatItNames(String text, String expected) {
    Cron cron = Cron.parse(text);
    List<String> runs = new ArrayList<>();
    Instant time = NEW_YEAR;
    for (int i = 0; i < expected.split(" ").length; i++) {
      time = cron.next(time, ZoneOffset.UTC).orElseThrow();
      runs.add(time.atOffset(ZoneOffset.UTC).toLocalDateTime().toString());
    }
    assertThat(runs).containsExactly(expected.split(" "));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          ''                | 0 fields; expected 5 (minute hour day-of-month month day-of-week), or 6 with a second first
          *                 | 1 field; expected 5
          * * * *           | 4 fields; expected 5
          * * * * * * 2026  | 7 fields; expected 5
          @reboot           | unknown macro; expected @yearly
          60 * * * *        | field minute: '60' is not valid; expected a number from 0 to 59
          -1 * * * *        | field minute: '-1' is not valid
          0.5 * * * *       | field minute: '0.5' is not valid
          * 24 * * *        | field hour: '24' is not valid; expected a number from 0 to 23
          * 8-24 * * *      | field hour: '8-24' has '24' where a number from 0 to 23 was expected
          * 8-12-16 * * *   | field hour: '8-12-16' has '12-16' where a number
          * NINE * * *      | field hour: 'NINE' is not valid
          * ? * * *         | field hour: '?' is not valid
          * * 0 * *         | field day-of-month: '0' is not valid; expected a number from 1 to 31, L, L-n, nW or LW
          * * 32W * *       | field day-of-month: '32W' has '32' where a number from 1 to 31 was expected
          * * W * *         | field day-of-month: 'W' is not valid
          * * L-31 * *      | field day-of-month: 'L-31' has '31' where a number from 1 to 30 was expected
          * * FRI * *       | field day-of-month: 'FRI' is not valid
          * * * 13 *        | field month: '13' is not valid; expected a number from 1 to 12 or a name from JAN to DEC
          * * * JANUARY *   | field month: 'JANUARY' is not valid
          * * * * 8         | field day-of-week: '8' is not valid; expected a number from 0 to 7 (0 and 7 are Sunday), a name from SUN to SAT
          * * * * L         | field day-of-week: 'L' is not valid
          * * * * FRI#6     | field day-of-week: 'FRI#6' has '6' where a number from 1 to 5 was expected
          * * * * FRI#      | field day-of-week: 'FRI#' is not valid
          * * * * #1        | field day-of-week: '#1' is not valid
          */0 * * * *       | field minute: '*/0' has the step '0'; expected 1 to 60
          */90 * * * *      | field minute: '*/90' has the step '90'; expected 1 to 60
          */x * * * *       | field minute: '*/X' has the step 'X'; expected 1 to 60
          * */25 * * *      | field hour: '*/25' has the step '25'; expected 1 to 24
          1/2/3 * * * *     | field minute: '1/2/3' has the step '2/3'; expected
          1,,2 * * * *      | field minute: '1,,2' is a list with an empty item
          1, * * * *        | field minute: '1,' is a list with an empty item
          99999999999 * * * * | field minute: '99999999999' is not valid
          0 0 30 2 *        | never comes: month '2' has no day that matches day-of-month '30' and day-of-week '*'
          0 0 31 4,6,9,11 * | never comes
          0 0 L-29 2 *      | never comes
          0 0 31W 2 ?       | never comes
          0 0 0 13 * FRI    | day-of-month '13' and day-of-week 'FRI' are both restricted; with 6 fields, expected * or ?
          ٣ * * * *         | character U+0663 at index 0; expected plain ASCII
          """)
  void refusesInvalidTextWithAReason(String text, String problem) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Cron.parse(text))
        .withMessageStartingWith("cron ")
        .withMessageContaining(problem);
  }

  @Test
  void namesTheExpressionInEveryRefusal() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Cron.parse("0 9 * * MO"))
        .withMessageStartingWith("cron '0 9 * * MO': field day-of-week: 'MO' is not valid;");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Cron.parse("0\n9 \u001b[31m * *"))
        .withMessage("cron '0?9 ?[31m * *': character U+000A at index 1; expected plain ASCII");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Cron.parse("* ".repeat(1_000)))
        .withMessageStartingWith("cron '* * ")
        .withMessageEndingWith("…': 2000 characters; expected at most 1000");
    assertThatNullPointerException().isThrownBy(() -> Cron.parse(null)).withMessage("expression");
  }

  @Test
  void acceptsEveryValueOfEveryFieldInLists() {
    String sixty = list(0, 59);
    String text =
        String.join(" ", sixty, sixty, list(0, 23), list(1, 31), list(1, 12), "*," + list(0, 7));
    assertThat(text).hasSizeLessThan(CronParser.MAX_LENGTH);
    assertThat(Cron.parse(text).next(NEW_YEAR, ZoneOffset.UTC)).contains(NEW_YEAR.plusSeconds(1));
  }

  private static String list(int from, int to) {
    return IntStream.rangeClosed(from, to)
        .mapToObj(String::valueOf)
        .collect(Collectors.joining(","));
  }

  @Test
  void findsALeapDayAcrossACenturyWithoutOne() {
    Instant after = Instant.parse("2096-03-01T00:00:00Z");
    assertThat(Cron.parse("0 0 29 2 *").next(after, ZoneOffset.UTC))
        .contains(Instant.parse("2104-02-29T00:00:00Z"));
    // 29 February on a Monday: forty years apart, over the year 2100.
    assertThat(Cron.parse("0 0 29 2 */7").next(after, ZoneOffset.UTC))
        .contains(Instant.parse("2128-02-29T00:00:00Z"));
  }

  @Test
  void countsTheInstantItselfAsPast() {
    Cron cron = Cron.parse("0 0 * * *");
    Instant midnight = Instant.parse("2026-01-02T00:00:00Z");
    assertThat(cron.next(midnight.minusNanos(1), ZoneOffset.UTC)).contains(midnight);
    assertThat(cron.next(midnight, ZoneOffset.UTC)).contains(midnight.plusSeconds(86_400));
  }

  @Test
  void endsOnlyAtTheLastMillisecond() {
    Cron cron = Cron.parse("* * * * *");
    ZoneId zone = ZoneId.of("Europe/Berlin");
    Instant last = Instant.ofEpochMilli(Long.MAX_VALUE);
    assertThat(cron.next(last.minusSeconds(120), zone)).isPresent();
    assertThat(cron.next(last, zone)).isEmpty();
    assertThat(cron.next(Instant.MAX, zone)).isEmpty();
    assertThat(cron.next(Instant.MIN, zone))
        .hasValueSatisfying(run -> assertThat(run).isAfter(Instant.ofEpochMilli(Long.MIN_VALUE)));
  }

  @Test
  void isEqualToTheSameTextExceptForCaseBlanksAndMacros() {
    Cron cron = Cron.parse("0 9 * * MON-FRI");
    assertThat(cron)
        .isEqualTo(Cron.parse("  0\t9 *  * mon-fri "))
        .isNotEqualTo(Cron.parse("0 9 * * 1-5"))
        .isNotEqualTo("0 9 * * MON-FRI")
        .hasToString("0 9 * * MON-FRI");
    assertThat(Cron.parse("@hourly")).isEqualTo(Cron.parse("0 * * * *"));
  }
}
