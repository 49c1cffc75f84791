// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FiguresTest {
  @Test
  void percentilesAreInMicroseconds() {
    Histogram histogram = Figures.histogram();
    IntStream.rangeClosed(1, 1000).forEach(micros -> Figures.record(histogram, micros * 1000L));

    assertThat(Figures.percentiles("start", histogram).get("startP50Micros"))
        .isBetween(499.0, 501.0);
    assertThat(Figures.percentiles("", histogram).keySet())
        .containsExactly("p50Micros", "p99Micros", "p999Micros", "maxMicros");
    assertThat(Figures.percentiles("", histogram).get("p999Micros")).isBetween(998.0, 1000.0);
  }

  @Test
  void earlyAndVeryLateTimeoutsAreCounted() {
    Histogram histogram = Figures.histogram();
    Figures.record(histogram, -1);
    Figures.record(histogram, Long.MAX_VALUE);

    assertThat(histogram.getTotalCount()).isEqualTo(2);
  }

  @Test
  void percentile99OfFewIsTheGreatest() {
    assertThat(Pauses.percentile99(List.of())).isZero();
    assertThat(Pauses.percentile99(List.of(2.0, 3.0, 1.0))).isEqualTo(3.0);
    assertThat(
            Pauses.percentile99(IntStream.rangeClosed(1, 200).mapToObj(i -> (double) i).toList()))
        .isEqualTo(198.0);
  }

  @Test
  void parametersSurviveTheCommandLine() {
    Parameters parameters = new Parameters(1, 2, 3, Long.MAX_VALUE, 5, 6, 7);

    assertThat(Parameters.decode(parameters.encode())).isEqualTo(parameters);
  }

  @Test
  void pausesAreReadFromTheLogOfTheJvm(@TempDir Path directory) throws IOException {
    Path file = directory.resolve("gc.log");
    try (GcLog log = new GcLog(file)) {
      long fromNanos = System.nanoTime();
      System.gc();
      long untilNanos = System.nanoTime();
      System.gc();

      assertThat(Files.readString(file)).contains("Pause Full");
      assertThat(log.pausesMillis(fromNanos, untilNanos)).isNotEmpty().allMatch(pause -> pause > 0);
      assertThat(log.pausesMillis(fromNanos, System.nanoTime()))
          .hasSizeGreaterThan(log.pausesMillis(fromNanos, untilNanos).size());
    }
  }
}
