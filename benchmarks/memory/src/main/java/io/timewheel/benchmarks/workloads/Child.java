// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.workloads;

import io.timewheel.benchmarks.subjects.SubjectKind;
import java.util.Map;

/**
 * The program of a measured JVM. It measures one subject under one variant of a workload, once, and
 * prints the figures in lines that begin with {@value #MARK}. All other output comes from the
 * measured libraries.
 */
public final class Child {
  /** The beginning of lines for the parent. */
  public static final String MARK = "@timewheel ";

  /** Requests the version of the JVM instead of a measurement. */
  public static final String PROBE = "probe";

  private static final int WARM_UP = 100_000;

  private Child() {}

  /**
   * Runs the program.
   *
   * @param args the workload, the subject and the parameters; or {@link #PROBE}
   * @throws Exception if it cannot be measured
   */
  public static void main(String[] args) throws Exception {
    if (args[0].equals(PROBE)) {
      for (String property : new String[] {"java.runtime.version", "java.vendor", "java.vm.name"}) {
        tell(property, System.getProperty(property));
      }
      return;
    }
    Workload.of(args[0])
        .measure(SubjectKind.of(args[1]), Parameters.decode(args[2]), WARM_UP, Child::tellAndEnd);
  }

  /**
   * Prints the metrics and ends the JVM: removing millions of timeouts from a timer that is no
   * longer needed takes seconds.
   */
  private static void tellAndEnd(Map<String, Double> metrics) {
    metrics.forEach((name, value) -> tell(name, value.toString()));
    System.out.flush();
    Runtime.getRuntime().halt(0);
  }

  private static void tell(String name, String value) {
    System.out.println(MARK + name + " " + value);
  }
}
