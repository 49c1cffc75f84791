// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the durations of the command line. */
class DurationsTest {
  @ParameterizedTest
  @CsvSource({
    "250ms, PT0.25S",
    "30s, PT30S",
    "15m, PT15M",
    "2h, PT2H",
    "7d, PT168H",
    "0s, PT0S",
    "PT1M30S, PT1M30S",
    "P1D, PT24H"
  })
  void readsAUnitOrIso(String text, Duration duration) {
    assertThat(Durations.parse(text)).isEqualTo(duration);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "15", "m", "1.5h", "-3s", "3 s", "1w", "3S", "999999999999999999d", "1h30m"})
  void refusesAnythingElse(String text) {
    assertThatExceptionOfType(DateTimeParseException.class).isThrownBy(() -> Durations.parse(text));
  }
}
