// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.nio.file.Path;

/** The main class of a measurement's JVM: one workload on one subject. */
final class Measurement {
  private Measurement() {}

  public static void main(String[] args) throws Exception {
    if (args.length != 4) {
      System.err.println("usage: Measurement WORKLOAD SUBJECT DIRECTORY PARAMETERS");
      System.exit(2);
    }
    Child.exit(
        Workload.of(args[0])
            .run(SubjectKind.of(args[1]), Path.of(args[2]), Parameters.parse(args[3])));
  }
}
