// SPDX-License-Identifier: Apache-2.0
package io.timewheel.demo;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Runs the whole program, with fewer timeouts. */
class SixMillionTest {
  private final ByteArrayOutputStream output = new ByteArrayOutputStream();
  private final ByteArrayOutputStream errors = new ByteArrayOutputStream();

  @Test
  void accountsForEachTimeout() throws InterruptedException {
    int exitCode = run("--timeouts", "20000", "--seconds", "0.5", "--threads", "3");

    assertThat(exitCode).isZero();
    assertThat(errorText()).isEmpty();
    assertThat(outputText()).endsWith("Each timeout is accounted for, and none fired early.\n");
    assertThat(row("started")).isEqualTo(20_000);
    assertThat(row("started")).isEqualTo(row("expired") + row("cancelled") + row("pending"));
    assertThat(row("expired")).isPositive();
    assertThat(row("cancelled")).isPositive();
    assertThat(row("moved")).isPositive();
  }

  @Test
  void countsNoneEarlyAndEachInOneColumnOfTheLags() throws InterruptedException {
    run("--timeouts", "20000", "--seconds", "0.1");

    assertThat(numbers("  early +([\\d,]+) +([\\d,]+)")).containsExactly(0L, 0L);
    List<Long> expired = numbers("  expired +([\\d,]+) +([\\d,]+)");
    assertThat(expired.get(0) + expired.get(1)).isEqualTo(row("expired"));
  }

  @Test
  void theLevelsAddUpToThePending() throws InterruptedException {
    run("--timeouts", "20000", "--seconds", "0.1");

    long sum = numbers("  level \\d+ .*?([\\d,]+)(?:  #+)?").stream().mapToLong(n -> n).sum();
    assertThat(sum).isEqualTo(row("pending")).isPositive();
  }

  @Test
  void isNoWiderThanATerminal() throws InterruptedException {
    run("--timeouts", "1000", "--seconds", "0.1");

    assertThat(outputText().lines()).allMatch(line -> line.length() <= Screen.WIDTH);
  }

  @Test
  void oneTimeoutIsEnough() throws InterruptedException {
    assertThat(run("--timeouts", "1", "--seconds", "0", "--threads", "2")).isZero();
    assertThat(row("started")).isEqualTo(1);
  }

  @Test
  void helpSucceeds() throws InterruptedException {
    assertThat(run("--help")).isZero();
    assertThat(outputText()).contains("--timeouts N", "--seconds S", "--threads T");
  }

  @Test
  void invalidOptionIsReportedWithExitCodeTwo() throws InterruptedException {
    assertThat(run("--timeouts", "none")).isEqualTo(2);
    assertThat(outputText()).isEmpty();
    assertThat(errorText())
        .isEqualTo("--timeouts: none (expected: a number from 1 to 100000000)\nTry --help.\n");
  }

  @Test
  void tooManyTimeoutsForTheHeapAreRefused() throws InterruptedException {
    assertThat(Heap.suffices(100_000_000)).isFalse(); // the tests have less than 11 GB
    assertThat(run("--timeouts", "100000000")).isEqualTo(2);
    assertThat(errorText())
        .startsWith("100,000,000 timeouts do not fit into the heap: they need about 10,522 MB")
        .contains("java -Xmx", "--timeouts 25000000");
  }

  private int run(String... args) throws InterruptedException {
    Screen screen = new Screen(new PrintStream(output, true, UTF_8), false, false);
    return SixMillion.run(args, screen, new PrintStream(errors, true, UTF_8));
  }

  private String outputText() {
    return output.toString(UTF_8).replace("\r\n", "\n");
  }

  private String errorText() {
    return errors.toString(UTF_8).replace("\r\n", "\n");
  }

  /** Returns the number in a row of the balance. */
  private long row(String name) {
    String balance = outputText().substring(outputText().indexOf("Balance"));
    return numbersIn(balance, "  " + name + " +([\\d,]+)(?: .*)?").get(0);
  }

  private List<Long> numbers(String line) {
    return numbersIn(outputText(), line);
  }

  /** Returns the groups of all lines that match. */
  private static List<Long> numbersIn(String text, String line) {
    return Pattern.compile("(?m)^" + line + "$")
        .matcher(text)
        .results()
        .flatMap(SixMillionTest::groups)
        .toList();
  }

  private static Stream<Long> groups(MatchResult match) {
    return IntStream.rangeClosed(1, match.groupCount())
        .mapToObj(group -> Long.valueOf(match.group(group).replace(",", "")));
  }
}
