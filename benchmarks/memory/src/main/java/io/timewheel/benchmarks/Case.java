// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks;

import static java.util.concurrent.TimeUnit.DAYS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.timewheel.benchmarks.subjects.SubjectKind;
import io.timewheel.benchmarks.workloads.Crowd;
import io.timewheel.benchmarks.workloads.Parameters;
import io.timewheel.benchmarks.workloads.Workload;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A variant of a workload, measured for all subjects that can take part.
 *
 * @param workload the workload
 * @param variant its name in the results
 * @param parameters its numbers
 * @param heapGigabytes the heap of each JVM, in GB
 * @param rounds how often it is measured
 * @param seconds the approximate duration of one measurement
 */
record Case(
    Workload workload,
    String variant,
    Parameters parameters,
    int heapGigabytes,
    int rounds,
    double seconds) {

  /** The bad days take long, and are measured for few subjects. */
  private static final Set<SubjectKind> COMPARED_ON_BAD_DAYS =
      EnumSet.of(
          SubjectKind.TIMEWHEEL,
          SubjectKind.TIMEWHEEL_HASHED,
          SubjectKind.NETTY42,
          SubjectKind.STPE);

  /**
   * Returns whether this case applies to a kind of subject. If not, the subject is not reported as
   * absent.
   */
  boolean concerns(SubjectKind subject) {
    return switch (workload) {
      case PATTERNS -> true;
      case CROWD, VAIN_WAKE_UPS, BIG_SLOT, LITTLE_MEMORY -> COMPARED_ON_BAD_DAYS.contains(subject);
      default -> !subject.isPattern();
    };
  }

  /** Returns whether a JVM can measure it: virtual threads exist since JDK 21. */
  boolean isIn(Runtime.Version jvm) {
    return workload != Workload.CROWD || !Crowd.isVirtual(parameters) || jvm.feature() >= 21;
  }

  /** Returns why a subject takes no part in this case, if it does not. */
  Optional<String> absence(SubjectKind subject) {
    return Optional.ofNullable(
        switch (subject) {
          case FLOOR ->
              workload.isOperation() || workload == Workload.LOAD || workload == Workload.PATTERNS
                  ? null
                  : "is no timer: nothing expires and nobody waits";
          case LOCKED_FLOOR ->
              workload.isOperation() && parameters.threads() == 1
                  ? null
                  : "is for the operations of one thread";
          case EMPTY -> workload == Workload.IDLE ? null : "is no timer";
          case TIMEWHEEL_POLLED, AGRONA ->
              parameters.threads() > 1 || workload == Workload.PATTERNS
                  ? "is for one thread, which polls it"
                  : null;
          case NETTY41, NETTY42 -> hasFineTick() ? "raises a tick below 1 ms to 1 ms" : null;
          case KAFKA -> hasFineTick() ? "counts whole milliseconds" : null;
          case PEKKO -> pekkosAbsence();
          default -> null;
        });
  }

  private boolean hasFineTick() {
    return parameters.tickNanos() < 1_000_000;
  }

  private @Nullable String pekkosAbsence() {
    if (hasFineTick()) {
      return "refuses a tick below 1 ms";
    }
    return parameters.maxDelayNanos() / parameters.tickNanos() > Integer.MAX_VALUE
        ? "refuses a delay over "
            + DAYS.convert(Integer.MAX_VALUE * parameters.tickNanos(), NANOSECONDS)
            + " days at its tick"
        : null;
  }

  /**
   * Returns the time limit of a measurement, in seconds. A measurement that takes longer is ended.
   */
  long limitSeconds() {
    return 90 + Math.round(10 * seconds);
  }
}
