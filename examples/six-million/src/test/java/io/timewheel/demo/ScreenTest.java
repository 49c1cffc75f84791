// SPDX-License-Identifier: Apache-2.0
package io.timewheel.demo;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import me.tongfei.progressbar.ProgressBar;
import org.junit.jupiter.api.Test;

class ScreenTest {
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final PrintStream out = new PrintStream(bytes, true, UTF_8);

  private String progressAndALine(boolean terminal) {
    Screen screen = new Screen(out, terminal, true);
    try (ProgressBar progress = screen.progress("Starting", 100)) {
      progress.stepTo(50);
      progress.refresh();
    }
    screen.line("done");
    return bytes.toString(UTF_8);
  }

  @Test
  void onATerminalTheNextLineReplacesTheProgressBar() {
    assertThat(progressAndALine(true))
        .startsWith("\rStarting")
        .contains("50%")
        .endsWith("\r%79s\rdone%n".formatted(""))
        .containsOnlyOnce(System.lineSeparator());
  }

  @Test
  void elsewhereNoProgressIsDrawn() {
    assertThat(progressAndALine(false)).isEqualTo("done%n".formatted());
  }

  @Test
  void aBarIsEmptyForNothingOnly() {
    Screen screen = new Screen(out, false, false);

    assertThat(screen.bar(0, 8)).isEmpty();
    assertThat(screen.bar(0.001, 8)).isEqualTo("#");
    assertThat(screen.bar(1, 8)).isEqualTo("########");
  }
}
