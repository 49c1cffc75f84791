// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import org.junit.jupiter.api.Test;

class QuickstartTest {
  /** The greeting comes from another thread, so it may come before any line but the last. */
  @Test
  void printsWhatItsJavadocShows() throws InterruptedException {
    assertThat(outputOfMain().lines())
        .containsExactlyInAnyOrder(
            "moved: true",
            "cancelled: true",
            "cancelled once more: false",
            "hello, 50 ms later",
            "pending when stopped: 1")
        .endsWith("pending when stopped: 1");
  }

  private static String outputOfMain() throws InterruptedException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream before = System.out;
    System.setOut(new PrintStream(bytes, true, UTF_8));
    try {
      Quickstart.main(new String[0]);
    } finally {
      System.setOut(before);
    }
    return bytes.toString(UTF_8);
  }
}
