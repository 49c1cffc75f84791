// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;

/** What an example prints. */
final class Output {
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
}
