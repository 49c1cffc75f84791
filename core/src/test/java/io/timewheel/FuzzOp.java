// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.util.List;
import java.util.stream.Collectors;

/**
 * One operation of a program that a fuzzer runs: a name and two numbers. Every operation is valid
 * in every program, so operations can be removed and changed freely. A number that selects one of
 * several things is taken modulo their number.
 */
record FuzzOp(String name, long a, long b) {
  static FuzzOp of(String name, long a, long b) {
    return new FuzzOp(name, a, b);
  }

  /** Reads one operation per line; lines that start with # are comments. */
  static List<FuzzOp> parse(List<String> lines) {
    return lines.stream()
        .map(String::strip)
        .filter(line -> !line.isEmpty() && !line.startsWith("#"))
        .map(FuzzOp::parse)
        .toList();
  }

  private static FuzzOp parse(String line) {
    String[] words = line.split(" ", 3);
    return new FuzzOp(words[0], Long.parseLong(words[1]), Long.parseLong(words[2]));
  }

  static String print(List<FuzzOp> program) {
    return program.stream().map(FuzzOp::toString).collect(Collectors.joining("\n"));
  }

  /**
   * Returns the first number of the last operation with that name, which is how a program defines
   * its settings.
   */
  static long setting(List<FuzzOp> program, String name, long otherwise) {
    long value = otherwise;
    for (FuzzOp op : program) {
      if (op.name.equals(name)) {
        value = op.a;
      }
    }
    return value;
  }

  @Override
  public String toString() {
    return name + " " + a + " " + b;
  }
}
