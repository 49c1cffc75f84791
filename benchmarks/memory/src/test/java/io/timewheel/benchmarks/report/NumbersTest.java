// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NumbersTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "0;0",
        "0.00001;0",
        "0.00123456;0.00123",
        "0.5;0.500",
        "1;1",
        "1.2;1.20",
        "12.345;12.3",
        "9.999;10.0",
        "999.4;999",
        "1234.5;1,235",
        "23456789;23,456,789",
        "-1.5;−1.50",
        "Infinity;∞"
      })
  void threeDigitsAreEnough(double value, String text) {
    assertThat(Numbers.text(value)).isEqualTo(text);
  }

  @Test
  void medianIsInTheMiddle() {
    assertThat(Spread.of(List.of())).isEmpty();
    assertThat(Spread.of(List.of(3.0))).contains(new Spread(3, 3, 3, 1));
    assertThat(Spread.of(List.of(9.0, 1.0, 2.0))).contains(new Spread(2, 1, 9, 3));
    assertThat(Spread.of(List.of(4.0, 1.0, 2.0, 100.0))).contains(new Spread(3, 1, 100, 4));
  }

  @Test
  void spreadIsShownIfThereIsOne() {
    assertThat(new Spread(2, 1, 9, 3).text(" ms")).isEqualTo("2 ms (1–9)");
    assertThat(new Spread(2.5, 2.5, 2.5, 3).text("")).isEqualTo("2.50");
  }
}
