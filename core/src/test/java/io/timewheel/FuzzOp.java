// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.util.List;
import java.util.stream.Collectors;

/**
 * One operation of a program that a fuzzer runs: a name and two numbers. Every operation means
 * something in every program, so that operations can be taken out and changed at will; numbers that
 * pick one of several are taken modulo their number.
 */
record FuzzOp(String name, long a, long b) {
  static FuzzOp of(String name, long a, long b) {
    return new FuzzOp(name, a, b);
  }

  /** Reads one line for each operation; lines that start with # are comments. */
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

  /** The first number of the last operation of that name: how a program names its settings. */
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
