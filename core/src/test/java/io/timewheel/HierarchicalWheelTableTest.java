// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Verifies that the table in the comment of {@link HierarchicalWheel} matches the code. */
class HierarchicalWheelTableTest {
  private static final Pattern ROW =
      Pattern.compile("(?m)^ \\* {2}(\\d+) +(\\d+) +(\\d+)(?: {2,}(\\S.*?) {2,}(\\S.*?))? *$");

  private static final long MILLI_NANOS = 1_000_000;

  record Row(int level, long granularityTicks, long rangeTicks, String granularity, String range) {}

  private static String source() throws IOException {
    Path module = MainClasses.directory().getParent().getParent();
    return Files.readString(module.resolve("src/main/java/io/timewheel/HierarchicalWheel.java"));
  }

  static List<Row> rows() throws IOException {
    return ROW.matcher(source()).results().map(HierarchicalWheelTableTest::row).toList();
  }

  private static Row row(MatchResult match) {
    return new Row(
        Integer.parseInt(match.group(1)),
        Long.parseLong(match.group(2)),
        Long.parseLong(match.group(3)),
        match.group(4),
        match.group(5));
  }

  @Test
  void tableHasARowForEveryLevel() throws IOException {
    assertThat(rows()).hasSize(HierarchicalWheel.LEVELS);
    for (int level = 0; level < HierarchicalWheel.LEVELS; level++) {
      assertThat(rows().get(level).level()).isEqualTo(level);
    }
    assertThat(HierarchicalWheel.SLOTS).isEqualTo(256);
    assertThat(source().replaceAll("\\s+\\*\\s+", " "))
        .contains("Each level has 256 slots per turn", "eight digits in base 256");
    assertThat(HierarchicalWheel.LEVELS).isEqualTo(8);
  }

  @ParameterizedTest
  @MethodSource("rows")
  void granularityAndRangeArePowersOf256(Row row) {
    BigInteger slots = BigInteger.valueOf(HierarchicalWheel.SLOTS);
    assertThat(row.granularityTicks()).isEqualTo(slots.pow(row.level()).longValueExact());
    assertThat(row.rangeTicks())
        .isEqualTo(slots.pow(row.level() + 1).min(BigInteger.valueOf(Ticks.NEVER)).longValue());
  }

  @ParameterizedTest
  @MethodSource("rows")
  void timeoutsAreKeptAtTheLevelOfTheirDelay(Row row) {
    for (long turn : turnsToTry(row)) {
      long startTick = turn * row.rangeTicks();
      assertThat(levelOf(startTick, row.granularityTicks())).isEqualTo(row.level());
      if (row.level() > 0) {
        assertThat(levelOf(startTick, row.granularityTicks() - 1)).isLessThan(row.level());
      }
      assertThat(levelOf(startTick, row.rangeTicks() - 1)).isEqualTo(row.level());
      if (row.level() < HierarchicalWheel.LEVELS - 1) {
        assertThat(levelOf(startTick, row.rangeTicks())).isGreaterThan(row.level());
      }
    }
  }

  /**
   * Returns the start of the first turn, of one in the middle, and of the last one of the next
   * level.
   */
  private static long[] turnsToTry(Row row) {
    if (row.level() == HierarchicalWheel.LEVELS - 1) {
      return new long[] {0};
    }
    return row.level() == HierarchicalWheel.LEVELS - 2
        ? new long[] {0, 3, 126}
        : new long[] {0, 3, 255};
  }

  @ParameterizedTest
  @MethodSource("rows")
  void aSlotIsAsLongAsTheGranularity(Row row) {
    WheelModel model = new WheelModel(0, 1, HierarchicalWheel::new);
    Node first = model.startAt(row.granularityTicks());
    long lastTick = row.granularityTicks() + (row.granularityTicks() - 1);
    assertThat(model.slotMates(model.startAt(lastTick))).contains(first);
    assertThat(model.slotMates(model.startAt(lastTick + 1))).doesNotContain(first);
  }

  @ParameterizedTest
  @MethodSource("rows")
  void theColumnsForATickOfOneMillisecondAreRight(Row row) {
    if (row.granularity() == null) {
      // No deadline can be that far away.
      assertThat(row.granularityTicks()).isGreaterThan(Long.MAX_VALUE / MILLI_NANOS);
      return;
    }
    assertThat(row.granularity()).isEqualTo(text(row.granularityTicks()));
    assertThat(row.range())
        .isEqualTo(text(Math.min(row.rangeTicks(), Long.MAX_VALUE / MILLI_NANOS)));
  }

  /** Returns the two largest units that are not zero, rounded down. A year has 365 days. */
  private static String text(long millis) {
    long seconds = millis / 1000;
    long minutes = seconds / 60;
    long hours = minutes / 60;
    long days = hours / 24;
    long years = days / 365;
    if (seconds == 0) {
      return millis + " ms";
    } else if (minutes == 0) {
      return seconds + "." + String.format("%03d", millis % 1000) + " s";
    } else if (hours == 0) {
      return minutes + " min " + seconds % 60 + " s";
    } else if (days == 0) {
      return hours + " h " + minutes % 60 + " min";
    } else if (years == 0) {
      return days + " d " + hours % 24 + " h";
    } else if (years < 100) {
      return years + " y " + days % 365 + " d";
    }
    return years + " y";
  }

  @Test
  void topLevelsHoldDeadlinesOfShortTicksOnly() throws IOException {
    String text = source().replaceAll("\\s+\\*\\s+", " ");
    Matcher claim =
        Pattern.compile(
                "Levels (\\d+) and (\\d+) hold deadlines only if ticks are below (\\d+) µs\\. With"
                    + " any tick, they hold timeouts that are never due\\.")
            .matcher(text);
    assertThat(claim.find()).isTrue();
    int level = Integer.parseInt(claim.group(1));
    assertThat(claim.group(2)).isEqualTo(String.valueOf(HierarchicalWheel.LEVELS - 1));
    long limitNanos = Long.parseLong(claim.group(3)) * 1000;

    assertThat(levelOfLastDeadline(limitNanos)).isEqualTo(level - 1);
    assertThat(levelOfLastDeadline(limitNanos - 1000)).isEqualTo(level);
    assertThat(levelOfLastDeadline(1)).isEqualTo(HierarchicalWheel.LEVELS - 1);
    WheelModel model = new WheelModel(0, MILLI_NANOS, HierarchicalWheel::new);
    assertThat(WheelChecks.slotOf(model.wheel, model.startNever()).index / HierarchicalWheel.PLACES)
        .isEqualTo(HierarchicalWheel.LEVELS - 1);
  }

  private static int levelOfLastDeadline(long tickNanos) {
    WheelModel model = new WheelModel(0, tickNanos, HierarchicalWheel::new);
    return WheelChecks.slotOf(model.wheel, model.start(Long.MAX_VALUE - 1)).index
        / HierarchicalWheel.PLACES;
  }

  private static int levelOf(long nowTick, long delayTicks) {
    WheelModel model = new WheelModel(0, 1, HierarchicalWheel::new);
    model.runTo(nowTick);
    return WheelChecks.slotOf(model.wheel, model.startAt(nowTick + delayTicks)).index
        / HierarchicalWheel.PLACES;
  }
}
