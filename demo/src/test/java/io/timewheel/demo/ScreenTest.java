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

  private String drawn(boolean terminal) {
    try (ProgressBar progress = new Screen(out, terminal, true).progress("Starting", 100)) {
      progress.stepTo(50);
      progress.refresh();
    }
    return bytes.toString(UTF_8);
  }

  @Test
  void onATerminalProgressIsDrawnInOneLineAndCleared() {
    assertThat(drawn(true)).contains("\rStarting").contains("50%").doesNotContain("\n");
    assertThat(bytes.toString(UTF_8)).endsWith("\r");
  }

  @Test
  void elsewhereNoProgressIsDrawn() {
    assertThat(drawn(false)).isEmpty();
  }

  @Test
  void aBarIsEmptyForNothingOnly() {
    Screen screen = new Screen(out, false, false);

    assertThat(screen.bar(0, 8)).isEmpty();
    assertThat(screen.bar(0.001, 8)).isEqualTo("#");
    assertThat(screen.bar(1, 8)).isEqualTo("########");
  }
}
