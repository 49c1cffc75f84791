// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.testkit.ManualTimer;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;

/** Captures the output of an example. */
public final class Output {
  private Output() {}

  /** The main method of an example. */
  @FunctionalInterface
  interface Main {
    void run(String[] args) throws Exception;
  }

  static String of(Main example) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream before = System.out;
    System.setOut(new PrintStream(bytes, true, UTF_8));
    try {
      example.run(new String[0]);
    } finally {
      System.setOut(before);
    }
    return bytes.toString(UTF_8);
  }

  /** Runs an example on a manual timer. The example must leave no timeout in the timer. */
  public static String inNoTime(Scene.Play play) throws InterruptedException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    ManualTimer timer = ManualTimer.create();
    PrintStream out = new PrintStream(bytes, true, UTF_8);
    play.in(new Scene(timer, timer.timeSource(), Runnable::run, timer::advanceBy, out));
    assertThat(timer.pendingTimeouts()).isZero();
    return bytes.toString(UTF_8);
  }
}
