// SPDX-License-Identifier: Apache-2.0
package io.timewheel.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class OptionsTest {
  @Test
  void withoutOptionsSixMillionTimeoutsFireForFiveSeconds() {
    Options options = Options.parse();

    assertThat(options.timeouts()).isEqualTo(6_000_000);
    assertThat(options.seconds()).isEqualTo(5);
    assertThat(options.threads()).isBetween(1, 4);
    assertThat(options.help()).isFalse();
  }

  @Test
  void readsEachOption() {
    assertThat(Options.parse("--timeouts", "20000", "--seconds", "0.5", "--threads", "3"))
        .isEqualTo(new Options(20_000, 0.5, 3, false));
  }

  @Test
  void helpNeedsNoValue() {
    assertThat(Options.parse("--threads", "3", "--help").help()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"--timeout", "-n", "6000000", ""})
  void refusesUnknownOptions(String name) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Options.parse(name, "1"))
        .withMessage("unknown option: " + name);
  }

  @ParameterizedTest
  @CsvSource({
    "--timeouts, 0, 1 to 100000000",
    "--timeouts, 100000001, 1 to 100000000",
    "--timeouts, 1.5, 1 to 100000000",
    "--timeouts, many, 1 to 100000000",
    "--timeouts, 5d, 1 to 100000000",
    "--seconds, -1, 0 to 3600",
    "--seconds, NaN, 0 to 3600",
    "--seconds, 3600.1, 0 to 3600",
    "--threads, 0, 1 to 256",
    "--threads, 257, 1 to 256",
  })
  void refusesInvalidValues(String name, String value, String expected) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Options.parse(name, value))
        .withMessage("%s: %s (expected: a number from %s)", name, value, expected);
  }

  @Test
  void refusesAnOptionWithoutItsValue() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Options.parse("--seconds"))
        .withMessage("--seconds: no value (expected: a number from 0 to 3600)");
  }
}
