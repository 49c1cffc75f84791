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
 * A variant of a workload, which is measured for all subjects that can take part.
 *
 * @param workload what is done
 * @param variant its name in the results
 * @param parameters its numbers
 * @param heapGigabytes of each JVM
 * @param rounds how often it is measured
 * @param seconds how long one measurement takes, about
 */
record Case(
    Workload workload,
    String variant,
    Parameters parameters,
    int heapGigabytes,
    int rounds,
    double seconds) {

  /** The bad days take long, and are measured for few. */
  private static final Set<SubjectKind> COMPARED_ON_BAD_DAYS =
      EnumSet.of(
          SubjectKind.TIMEWHEEL,
          SubjectKind.TIMEWHEEL_HASHED,
          SubjectKind.NETTY42,
          SubjectKind.STPE);

  /** Whether a subject is of the kind that this is about; if not, it is not missed. */
  boolean concerns(SubjectKind subject) {
    return switch (workload) {
      case PATTERNS -> true;
      case CROWD, VAIN_WAKE_UPS, BIG_SLOT, LITTLE_MEMORY -> COMPARED_ON_BAD_DAYS.contains(subject);
      default -> !subject.isPattern();
    };
  }

  /** Whether a JVM can measure it: virtual threads came with JDK 21. */
  boolean isIn(Runtime.Version jvm) {
    return workload != Workload.CROWD || !Crowd.isVirtual(parameters) || jvm.feature() >= 21;
  }

  /** Why a subject takes no part in this, if so. */
  Optional<String> absence(SubjectKind subject) {
    return Optional.ofNullable(
        switch (subject) {
          case FLOOR ->
              workload.isOperation() || workload == Workload.LOAD || workload == Workload.PATTERNS
                  ? null
                  : "is no timer: nothing expires and nobody waits";
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

  /** A measurement that takes longer is given up. */
  long limitSeconds() {
    return 90 + Math.round(10 * seconds);
  }
}
