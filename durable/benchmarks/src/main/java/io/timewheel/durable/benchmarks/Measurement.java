// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.nio.file.Path;
import tools.jackson.databind.json.JsonMapper;

/** What runs in the JVM of a measurement: one workload on one subject. Prints figures as JSON. */
final class Measurement {
  /** Before the answer: whatever else the measured libraries print. */
  static final String MARK = "figures: ";

  private Measurement() {}

  public static void main(String[] args) throws Exception {
    if (args.length != 4) {
      System.err.println("usage: Measurement WORKLOAD SUBJECT DIRECTORY PARAMETERS");
      System.exit(2);
    }
    var figures =
        Workload.of(args[0])
            .run(SubjectKind.of(args[1]), Path.of(args[2]), Parameters.parse(args[3]));
    System.out.println(MARK + new JsonMapper().writeValueAsString(figures));
    System.exit(0); // whatever threads a library leaves behind
  }
}
