// SPDX-License-Identifier: Apache-2.0
package io.timewheel.soak;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Verifies that the command of the soak works; a soak of minutes runs before a release. */
class SoakTest {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @Test
  @Tag("proof")
  void aShortSoakIsClean() throws InterruptedException {
    int code = run("--minutes", "0.05", "--live", "20000", "--threads", "2", "--seed", "1");

    assertThat(code).as(text(out)).isZero();
    assertThat(text(out)).contains("Timewheel soak: clean");
    System.out.print(text(out));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --minutes 0          | --minutes: 0 (expected: more than 0, at most a year)
          --minutes soon       | --minutes: soon (expected: more than 0, at most a year)
          --minutes            | --minutes: has no value
          --live 999           | --live: 999 (expected: a whole number, 1,000 to 10,000,000)
          --threads 0          | --threads: 0 (expected: a whole number, 1 to 64)
          --seed x             | --seed: x (expected: a whole number
          --hours 1            | --hours: not an option (--help lists them)
          """)
  void invalidOptionsAreRefused(String line, String message) throws InterruptedException {
    assertThat(run(line.split(" ", -1))).isEqualTo(2);
    assertThat(text(err)).contains(message);
    assertThat(text(out)).isEmpty();
  }

  @Test
  void moreThanTheHeapHoldsIsRefused() throws Exception {
    assertThat(SoakOptions.parse(new String[0], 1L << 40).live()).isEqualTo(5_000_000);
    assertThat(SoakOptions.parse(new String[0], 600 << 20).live()).isLessThan(1_100_000);
    try {
      SoakOptions.parse(new String[] {"--live", "10000000"}, 1 << 30);
    } catch (SoakOptions.UsageException e) {
      assertThat(e).hasMessageContaining("larger heap by -Xmx");
      return;
    }
    throw new AssertionError("10 million in 1 GB");
  }

  @Test
  void helpListsTheOptions() throws InterruptedException {
    assertThat(run("--help")).isZero();
    assertThat(text(out)).contains("--minutes", "--live", "--threads", "--seed", "Exit code");
  }

  private int run(String... args) throws InterruptedException {
    return Soak.run(args, new PrintStream(out, true, UTF_8), new PrintStream(err, true, UTF_8));
  }

  private static String text(ByteArrayOutputStream stream) {
    return stream.toString(UTF_8);
  }
}
