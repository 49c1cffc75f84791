// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.timewheel.durable.internal.time.NaiveCron.Dialect;
import io.timewheel.durable.model.InvalidArgumentException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tag;
import net.jqwik.api.Tuple;

/**
 * Verifies random crons by brute force, and the parser with random texts. Only this class finds the
 * runs of a cron by brute force.
 */
@Tag("promise-50")
class CronPropertyTest {
  private static final LocalDate FIRST_DAY = LocalDate.of(2000, 1, 1);
  private static final LocalDate AFTER_400_YEARS = FIRST_DAY.plusYears(400);
  private static final List<String> ZONES =
      List.copyOf(new TreeSet<>(ZoneId.getAvailableZoneIds()));

  @Property(tries = 300)
  void findsTheSameRunsAsBruteForce(@ForAll long seed) {
    Random random = new Random(seed);
    NaiveCron naive = NaiveCron.random(random, Dialect.OURS);
    LocalDateTime time =
        FIRST_DAY.plusDays(random.nextInt(40_000)).atTime(random.nextInt(24), random.nextInt(60));
    LocalDateTime expected = naive.next(time, AFTER_400_YEARS.plusYears(110));
    if (expected == null) {
      assertThatIllegalArgumentException()
          .as(naive.text())
          .isThrownBy(() -> Cron.parse(naive.text()))
          .withMessageContaining("never comes");
      return;
    }
    Cron cron = Cron.parse(naive.text());
    for (int i = 0; i < 20; i++) {
      assertThat(next(cron, time)).as("%s after %s", naive.text(), time).isEqualTo(expected);
      // From the run itself, and from a time after it.
      time = i % 2 == 0 ? expected : expected.plusSeconds(random.nextInt(7_200));
      expected = naive.next(time, LocalDate.MAX);
    }
  }

  private static LocalDateTime next(Cron cron, LocalDateTime time) {
    Instant next = cron.next(time.toInstant(ZoneOffset.UTC), ZoneOffset.UTC).orElseThrow();
    return LocalDateTime.ofInstant(next, ZoneOffset.UTC);
  }

  @Property
  void movesForwardAndSkipsNothing(@ForAll long seed) {
    Random random = new Random(seed);
    Cron cron = anyCron(random);
    ZoneId zone = ZoneId.of(ZONES.get(random.nextInt(ZONES.size())));
    Instant earlier = Instant.ofEpochMilli(random.nextLong(-1L << 42, 1L << 42));
    Instant later = earlier.plusMillis(random.nextLong(1L << random.nextInt(1, 40)));
    Instant next = cron.next(earlier, zone).orElseThrow();
    Instant nextOfLater = cron.next(later, zone).orElseThrow();
    assertThat(next).isAfter(earlier);
    assertThat(nextOfLater).isAfter(later).isAfterOrEqualTo(next);
    if (next.isAfter(later)) {
      assertThat(nextOfLater).as("no run between the two").isEqualTo(next);
    }
  }

  @Property
  void isReadBackFromItsText(@ForAll long seed) {
    Cron cron = anyCron(new Random(seed));
    Cron again = Cron.parse(cron.toString());
    assertThat(again).isEqualTo(cron).hasSameHashCodeAs(cron).hasToString(cron.toString());
  }

  private static Cron anyCron(Random random) {
    while (true) {
      try {
        return Cron.parse(NaiveCron.random(random, Dialect.OURS).text());
      } catch (IllegalArgumentException e) {
        assertThat(e).hasMessageContaining("never comes");
      }
    }
  }

  @Property(tries = 5_000)
  void readsAnythingOrRefusesItAsAnIllegalArgument(@ForAll("texts") String text) {
    try {
      Cron cron = Cron.parse(text);
      assertThat(cron.next(Instant.EPOCH, ZoneOffset.UTC)).isPresent();
    } catch (IllegalArgumentException e) {
      assertThat(e.getClass()).isEqualTo(InvalidArgumentException.class);
      assertThat(e.getMessage()).startsWith("cron '").hasSizeLessThan(2_500);
      assertThat(e.getMessage().codePoints()).allMatch(c -> c == '…' || (c >= ' ' && c <= '~'));
    }
  }

  @Provide
  Arbitrary<String> texts() {
    Arbitrary<String> token =
        Arbitraries.of(
            "*",
            "?",
            "L",
            "W",
            "LW",
            "#",
            "/",
            "-",
            ",",
            "0",
            "1",
            "5",
            "7",
            "31",
            "59",
            "60",
            "99999999999",
            "MON",
            "sun",
            "FRIL",
            "JAN",
            "dec",
            "@",
            "@daily",
            " ",
            "\t",
            "\n",
            "",
            "+1",
            "-1",
            "١",
            "ı",
            "\u0000",
            "\ud800",
            "x");
    Arbitrary<String> field = token.list().ofMaxSize(4).map(tokens -> String.join("", tokens));
    Arbitrary<String> fields = field.list().ofMaxSize(8).map(list -> String.join(" ", list));
    Arbitrary<String> huge =
        Arbitraries.of("*", "1,", "L", " ", "* ").map(text -> text.repeat(30_000));
    return Arbitraries.frequencyOf(
        Tuple.of(20, fields),
        Tuple.of(5, Arbitraries.strings().ofMaxLength(60)),
        Tuple.of(1, huge));
  }
}
