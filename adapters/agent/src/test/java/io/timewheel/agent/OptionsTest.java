// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OptionsTest {
  @Test
  void defaultsKeepTheApplicationsTick() {
    Options options = Options.parse(null);

    assertThat(options.tick()).isNull();
    assertThat(options.stripes()).isEqualTo(1);
    assertThat(options.wheel()).isEqualTo(Options.Wheel.HIERARCHICAL);
    assertThat(options.report()).isEqualTo(Options.Report.START);
    assertThat(options.selects("any.HashedWheelTimer")).isTrue();
  }

  @Test
  void readsAllOptions() {
    Options options =
        Options.parse(
            "tick=500us,"
                + " wheel=hashed,stripes=4,include=io.netty.*:org.*,exclude=*.shaded.*,report=exit");

    assertThat(options.tick()).isEqualTo(Duration.ofNanos(500_000));
    assertThat(options.wheel()).isEqualTo(Options.Wheel.HASHED);
    assertThat(options.stripes()).isEqualTo(4);
    assertThat(options.report()).isEqualTo(Options.Report.EXIT);
    assertThat(options.selects("io.netty.util.HashedWheelTimer")).isTrue();
    assertThat(options.selects("org.example.HashedWheelTimer")).isTrue();
    assertThat(options.selects("org.shaded.HashedWheelTimer")).isFalse();
    assertThat(options.selects("com.example.HashedWheelTimer")).isFalse();
    assertThat(options.selects("ioXnetty.util.HashedWheelTimer")).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "*,              a.Timer, true",
    "a.Timer,        a.Timer, true",
    "a.Timer,        b.a.Timer, false",
    "*Timer,         a.Timer.Timer, true",
    "*Timer,         a.Timers, false",
    "a.*Timer,       a.Timer, true",
    "a*a,            a, false",
    "a*b*c,          aXbXbXcXc, true",
    "a*b*c,          aXcXb, false",
    "**a.**Timer**,  a.Timer, true",
  })
  void starMatchesAnyCharacters(String pattern, String name, boolean matches) {
    assertThat(Options.parse("include=" + pattern).selects(name)).isEqualTo(matches);
  }

  /** With backtracking, this test would not end. */
  @Test
  void manyStarsDoNotBacktrack() {
    Options options = Options.parse("include=" + "*e".repeat(40) + "x:" + "*".repeat(40) + "x");

    assertThat(options.selects("e".repeat(200) + "HashedWheelTimer")).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "tik=1ms       | tik: unknown option (known: exclude, include, report, stripes, tick,"
            + " wheel)",
        "tick          | tick: has no value (expected: tick=VALUE)",
        "tick=1ms,tick=2ms | tick: given twice (expected: once)",
        "tick=1        | tick: 1 (expected: a number and ns, us, ms or s, as in 1ms; more than"
            + " zero, at most 86400s)",
        "tick=86401s   | tick: 86401s (expected: a number and ns, us, ms or s, as in 1ms; more than"
            + " zero, at most 86400s)",
        "tick=999999999999999999s | tick: 999999999999999999s (expected: a number and ns, us, ms or"
            + " s, as in 1ms; more than zero, at most 86400s)",
        "tick=999999999999999999us | tick: 999999999999999999us (expected: a number and ns, us, ms"
            + " or s, as in 1ms; more than zero, at most 86400s)",
        "stripes=0     | stripes: 0 (expected: 1 to 256)",
        "stripes=257   | stripes: 257 (expected: 1 to 256)",
        "wheel=round   | wheel: round (expected: hashed, hierarchical)",
        "report=all    | report: all (expected: none, start, exit, compare)",
      })
  void namesTheInvalidValue(String argument, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Options.parse(argument))
        .withMessage(message);
  }
}
