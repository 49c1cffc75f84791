// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.workloads;

import io.timewheel.benchmarks.subjects.Settings;
import io.timewheel.benchmarks.subjects.Subject;
import io.timewheel.benchmarks.subjects.SubjectKind;
import java.util.Arrays;
import java.util.Map;
import java.util.function.Consumer;

/** The workloads, by their names in the results. */
public enum Workload {
  CHURN("churn"),
  INFLIGHT("inflight"),
  TOUCH("touch"),
  LOAD("load"),
  EXPIRE("expire"),
  LAG("lag"),
  IDLE("idle"),
  START_LATENCY("latency-of-start"),
  CROWD("crowd"),
  VAIN_WAKE_UPS("vain-wake-ups"),
  BIG_SLOT("big-slot"),
  LITTLE_MEMORY("little-memory"),
  GC("gc"),
  PATTERNS("patterns");

  private final String id;

  Workload(String id) {
    this.id = id;
  }

  /**
   * Finds a workload by its name.
   *
   * @param id as in the results
   * @return the workload
   */
  public static Workload of(String id) {
    return Arrays.stream(values())
        .filter(workload -> workload.id.equals(id))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("unknown workload: " + id));
  }

  /** {@return the name in the results} */
  public String id() {
    return id;
  }

  /** {@return whether JMH measures it, in a JVM that it starts itself} */
  public boolean isOperation() {
    return this == CHURN || this == INFLIGHT || this == TOUCH;
  }

  /**
   * Measures a subject in this JVM, or, if it is an operation, in one that JMH starts.
   *
   * @param kind of the subject
   * @param parameters of the variant
   * @param warmUp how many timeouts to warm up with
   * @param report receives the figures while the timer is still alive
   * @throws Exception if it cannot be measured
   */
  public void measure(
      SubjectKind kind, Parameters parameters, int warmUp, Consumer<Map<String, Double>> report)
      throws Exception {
    if (isOperation()) {
      report.accept(Operations.measure(this, kind, parameters));
      return;
    }
    Settings settings = parameters.settings();
    if (this == PATTERNS) {
      report.accept(Patterns.measure(kind.openKeyed(settings), parameters));
      return;
    }
    WarmUp.run(kind, settings, warmUp);
    try (Subject subject = kind.open(settings)) {
      report.accept(
          switch (this) {
            case LOAD -> Load.measure(subject, parameters);
            case EXPIRE -> Expire.measure(kind, subject, parameters);
            case LAG -> Lag.measure(kind, subject, parameters);
            case IDLE -> Idle.measure(kind, subject, parameters);
            case START_LATENCY -> StartLatency.measure(kind, subject, parameters);
            case CROWD -> Crowd.measure(kind, subject, parameters);
            case VAIN_WAKE_UPS -> VainWakeUps.measure(subject, parameters);
            case BIG_SLOT -> BigSlot.measure(subject, parameters);
            case LITTLE_MEMORY -> LittleMemory.measure(subject, parameters);
            case GC -> Pauses.measure(subject, parameters);
            case CHURN, INFLIGHT, TOUCH, PATTERNS -> throw new AssertionError(this);
          });
    }
  }
}
