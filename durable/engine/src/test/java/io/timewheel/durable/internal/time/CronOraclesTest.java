// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.time;

import static org.assertj.core.api.Assertions.assertThat;

import com.cronutils.model.CronType;
import com.cronutils.model.definition.CronDefinitionBuilder;
import com.cronutils.model.time.ExecutionTime;
import com.cronutils.parser.CronParser;
import io.timewheel.durable.internal.time.NaiveCron.Dialect;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Random;
import java.util.function.UnaryOperator;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.scheduling.support.CronExpression;

/**
 * Compares crons with Spring's {@code CronExpression} and cron-utils, and lists the differences.
 */
@Tag("promise-50")
class CronOraclesTest {
  @Property(tries = 2_000)
  void runsWhenSpringDoes(@ForAll long seed) {
    Random random = new Random(seed);
    String text = NaiveCron.random(random, Dialect.SPRING).text();
    if (isReadOtherwiseBySpring(text)) {
      return;
    }
    check(text, random, spring(text));
  }

  @Property(tries = 2_000)
  void runsWhenCronUtilsDoesOnCrontabs(@ForAll long seed) {
    Random random = new Random(seed);
    String text = NaiveCron.random(random, Dialect.UNIX).text();
    if (isReadOtherwiseByCronUtils(text)) {
      return;
    }
    check(text, random, cronUtils(text, CronType.UNIX));
  }

  private static boolean isReadOtherwiseBySpring(String text) {
    String weekdays = text.substring(text.lastIndexOf(' '));
    return text.matches(".*(L-(2[89]|30)|\\b(1|2[89]|3[01])W).*")
        || weekdays.matches("(?i).*(\\*|0|SUN)/.*");
  }

  private static boolean isReadOtherwiseByCronUtils(String text) {
    return text.matches("(?i)\\S+ \\S+ \\*/.*|.* \\*/\\S*|.*(SUN-|-SUN).*");
  }

  private static void check(
      String text, Random random, UnaryOperator<@Nullable ZonedDateTime> oracle) {
    ZonedDateTime time = Instant.ofEpochSecond(random.nextInt()).atZone(ZoneOffset.UTC);
    Cron cron;
    try {
      cron = Cron.parse(text);
    } catch (IllegalArgumentException e) {
      assertThat(e).hasMessageContaining("never comes");
      assertThat(oracle.apply(time)).as(text).isNull();
      return;
    }
    for (int i = 0; i < 5; i++) {
      ZonedDateTime next = oracle.apply(time);
      assertThat(cron.next(time.toInstant(), ZoneOffset.UTC))
          .as("%s after %s", text, time)
          .contains(next.toInstant());
      time = next;
    }
  }

  /** Each line is a difference: the runs of Timewheel, of Spring and of cron-utils. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          # Both day fields restricted. Five fields: crontab's rule. Spring has no five fields; six are refused here.
          0 0 13 * FRI       | UTC | 2026-11-20T10:00Z | UNIX     | 2026-11-27T00:00Z 2026-12-04T00:00Z | 2027-08-13T00:00Z 2028-10-13T00:00Z | 2026-11-27T00:00Z 2026-12-04T00:00Z
          0 0 0 13 * FRI     | UTC | 2026-11-20T10:00Z | SPRING53 | refused | 2027-08-13T00:00Z | 2027-08-13T00:00Z
          # A step from * does not restrict, as in the crontab of Vixie and its heirs.
          0 0 */2 * MON      | UTC | 2026-11-20T10:00Z | UNIX     | 2026-11-23T00:00Z 2026-12-07T00:00Z | 2026-11-23T00:00Z 2026-12-07T00:00Z | 2026-11-21T00:00Z 2026-11-23T00:00Z
          # What never comes is refused when it is read, not silent when it does not run.
          0 0 30 2 *         | UTC | 2026-11-20T10:00Z | UNIX     | refused | never | never
          # Ranges that go round.
          0 0 22-2 * * *     | UTC | 2026-01-01T03:00Z | SPRING53 | 2026-01-01T22:00Z | refused | refused
          0 0 0 1 NOV-FEB *  | UTC | 2026-01-01T00:00Z | SPRING53 | 2026-02-01T00:00Z | refused | 2026-11-01T00:00Z
          0 0 0 * * FRI-MON  | UTC | 2026-01-01T00:00Z | SPRING53 | 2026-01-02T00:00Z | refused | 2026-01-02T00:00Z
          # Steps that do not fit into the field.
          0 */90 * * * *     | UTC | 2026-01-01T00:00Z | SPRING53 | refused | 2026-01-01T01:00Z | refused
          0 */60 * * * *     | UTC | 2026-01-01T00:00Z | SPRING53 | 2026-01-01T01:00Z | 2026-01-01T01:00Z | refused
          # Days that not every month has, where Spring stands still or leaves months out.
          0 0 0 L-29 * *     | UTC | 2026-01-30T00:00Z | SPRING53 | 2026-03-02T00:00Z | 2026-01-30T00:00Z | 2026-03-02T00:00Z
          0 0 0 31W * *      | UTC | 2026-03-31T00:00Z | SPRING53 | 2026-05-29T00:00Z | 2026-07-31T00:00Z | refused
          # The weekday nearest to a Sunday that ends its month is the Friday before. Spring leaves the month out, cron-utils runs on the Sunday.
          0 0 0 28W 2 *      | UTC | 1992-12-31T00:00Z | SPRING53 | 1993-02-26T00:00Z | 1994-02-28T00:00Z | 1993-02-28T00:00Z
          # The weekday nearest to Saturday the 1st, searched from the 2nd.
          0 0 0 1W * *       | UTC | 2007-09-02T06:38Z | SPRING53 | 2007-09-03T00:00Z | 2007-10-01T00:00Z | 2007-09-03T00:00Z
          # L in lists.
          0 0 0 1,L * *      | UTC | 2026-01-01T00:00Z | SPRING53 | 2026-01-31T00:00Z | 2026-01-31T00:00Z | 2026-02-01T00:00Z
          # Bare L as a weekday.
          0 0 0 ? * L        | UTC | 2026-01-01T00:00Z | SPRING53 | refused | refused | 2026-01-04T00:00Z
          0 0 0 ? * L        | UTC | 2026-01-01T00:00Z | QUARTZ   | refused | refused | 2026-01-03T00:00Z
          # No day wanted at all.
          0 0 0 ? * ?        | UTC | 2026-01-01T00:00Z | SPRING53 | 2026-01-02T00:00Z | 2026-01-02T00:00Z | never
          # Quartz counts weekdays from Sunday as 1, and ends its search in 2099.
          0 0 0 ? * 5#2      | UTC | 2026-01-01T00:00Z | QUARTZ   | 2026-01-09T00:00Z | 2026-01-09T00:00Z | 2026-01-08T00:00Z
          # Weekdays begin on Sunday, as in crontab; for Spring on Monday. A named range from Sunday.
          0 0 0 * * */5      | UTC | 2026-01-01T00:00Z | SPRING53 | 2026-01-02T00:00Z | 2026-01-03T00:00Z | 2026-01-02T00:00Z
          0 0 * * SUN-TUE    | UTC | 2026-01-01T00:00Z | UNIX     | 2026-01-04T00:00Z | 2026-01-04T00:00Z | refused
          # Macros.
          @daily             | UTC | 2026-01-01T00:00Z | UNIX     | 2026-01-02T00:00Z | 2026-01-02T00:00Z | refused
          # In a gap both leave the run out.
          30 2 * * *         | Europe/Berlin | 2026-03-28T11:00Z | UNIX | 2026-03-29T01:00Z | 2026-03-30T00:30Z | 2026-03-30T00:30Z
          30 * * * *         | Europe/Berlin | 2026-03-29T00:30Z | UNIX | 2026-03-29T01:00Z 2026-03-29T01:30Z | 2026-03-29T01:30Z | 2026-03-29T01:30Z
          0 0 * * *          | Africa/Cairo  | 2025-04-24T12:00Z | UNIX | 2025-04-24T22:00Z | 2025-04-25T21:00Z | 2025-04-25T21:00Z
          # In an overlap Spring runs a cron that names an hour twice, and cron-utils some of them.
          30 2 * * *         | Europe/Berlin | 2026-10-25T00:30Z | UNIX | 2026-10-26T01:30Z | 2026-10-25T01:30Z | 2026-10-26T01:30Z
          */30 1-3 * * *     | Europe/Berlin | 2026-10-25T00:30Z | UNIX | 2026-10-25T02:00Z | 2026-10-25T01:00Z | 2026-10-25T01:00Z
          # In an overlap of half an hour Spring leaves runs out, and stands still.
          45 * * * *         | Australia/Lord_Howe | 2026-04-04T14:45Z | UNIX | 2026-04-04T15:15Z | 2026-04-04T16:15Z | 2026-04-04T15:15Z
          15 1-2 * * *       | Australia/Lord_Howe | 2026-04-04T14:15Z | UNIX | 2026-04-04T15:45Z | 2026-04-04T14:15Z | 2026-04-04T15:45Z
          """)
  void differsWhereDocumented(
      String text,
      ZoneId zone,
      OffsetDateTime after,
      CronType cronUtilsType,
      String ours,
      String spring,
      String cronUtils) {
    ZonedDateTime time = after.atZoneSameInstant(zone);
    assertThat(runs(ours, time, ours(text))).as("ours").isEqualTo(ours);
    assertThat(runs(spring, time, spring(text))).as("Spring").isEqualTo(spring);
    assertThat(runs(cronUtils, time, cronUtils(text, cronUtilsType)))
        .as("cron-utils")
        .isEqualTo(cronUtils);
  }

  /** Returns the same number of runs as expected. */
  private static String runs(
      String expected, ZonedDateTime after, UnaryOperator<@Nullable ZonedDateTime> next) {
    StringBuilder runs = new StringBuilder();
    ZonedDateTime time = after;
    for (int i = 0; i < expected.split(" ").length; i++) {
      try {
        time = next.apply(time);
      } catch (IllegalArgumentException | DateTimeException e) {
        return "refused";
      }
      if (time == null) {
        return "never";
      }
      runs.append(time.toOffsetDateTime().withOffsetSameInstant(ZoneOffset.UTC)).append(' ');
    }
    return runs.toString().strip();
  }

  private static UnaryOperator<@Nullable ZonedDateTime> ours(String text) {
    return time -> {
      ZoneId zone = time.getZone();
      return Cron.parse(text)
          .next(time.toInstant(), zone)
          .map(run -> run.atZone(zone))
          .orElse(null);
    };
  }

  private static UnaryOperator<@Nullable ZonedDateTime> spring(String text) {
    return time -> CronExpression.parse(withSeconds(text)).next(time);
  }

  private static UnaryOperator<@Nullable ZonedDateTime> cronUtils(String text, CronType type) {
    CronParser parser = new CronParser(CronDefinitionBuilder.instanceDefinitionFor(type));
    return time -> ExecutionTime.forCron(parser.parse(text)).nextExecution(time).orElse(null);
  }

  /** Spring's expressions all have six fields. */
  private static String withSeconds(String text) {
    return text.startsWith("@") || text.split(" ").length == 6 ? text : "0 " + text;
  }
}
