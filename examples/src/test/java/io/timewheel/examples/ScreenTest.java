// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import org.junit.jupiter.api.Test;

class ScreenTest {
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final PrintStream out = new PrintStream(bytes, true, UTF_8);

  @Test
  void onATerminalALiveLineIsRedrawnInPlace() {
    Screen screen = new Screen(out, true, true);
    screen.begin("a long line");
    screen.live("short");
    screen.done("end");

    assertThat(bytes.toString(UTF_8))
        .isEqualTo("\r%-79s\r%-79s\r%-79s%n".formatted("a long line", "short", "end"));
  }

  @Test
  void elsewhereALiveLineIsPrintedOnceAtTheEnd() {
    Screen screen = new Screen(out, false, true);
    screen.begin("title");
    screen.live("one");
    screen.live("two");
    screen.done("end");

    assertThat(bytes.toString(UTF_8)).isEqualTo("end%n".formatted());
  }

  @Test
  void aBarIsEmptyForNothingOnly() {
    Screen screen = new Screen(out, false, false);

    assertThat(screen.bar(0, 8)).isEmpty();
    assertThat(screen.bar(0.001, 8)).isEqualTo("#");
    assertThat(screen.bar(1, 8)).isEqualTo("########");
  }

  @Test
  void aGaugeIsFullForAllOnly() {
    Screen screen = new Screen(out, false, true);

    assertThat(screen.gauge(0, 4)).isEqualTo("░░░░");
    assertThat(screen.gauge(0.999, 4)).isEqualTo("███░");
    assertThat(screen.gauge(1, 4)).isEqualTo("████");
  }
}
