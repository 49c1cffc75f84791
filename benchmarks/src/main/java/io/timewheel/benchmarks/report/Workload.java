// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.report;

import java.util.Arrays;

/** What is measured, in the order of the documentation. */
enum Workload {
  CHURN("churn"),
  INFLIGHT("inflight"),
  TOUCH("touch"),
  LOAD("load"),
  EXPIRE("expire"),
  LATENESS("lateness"),
  IDLE("idle"),
  START_LATENCY("latency-of-start"),
  GC("gc");

  private final String id;

  Workload(String id) {
    this.id = id;
  }

  static Workload of(String id) {
    return Arrays.stream(values())
        .filter(workload -> workload.id.equals(id))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("unknown workload: " + id));
  }

  /** Returns the name in the recording, and of the section in the documentation. */
  String id() {
    return id;
  }
}
