// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.workloads;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.timewheel.benchmarks.subjects.Settings;
import io.timewheel.benchmarks.subjects.Subject;
import io.timewheel.benchmarks.subjects.SubjectKind;
import java.util.SplittableRandom;

/** Lets the JVM compile the code of a subject, on an instance that is discarded. */
final class WarmUp {
  /** With one round, the compiler still works on the timer's loop when the measurement begins. */
  private static final int EXPIRING_ROUNDS = 3;

  private WarmUp() {}

  static void run(SubjectKind kind, Settings settings, int timeouts) throws InterruptedException {
    if (kind == SubjectKind.EMPTY) {
      return;
    }
    Settings small = new Settings(settings.tickNanos(), timeouts, HOURS.toNanos(1));
    try (Subject subject = kind.open(small)) {
      Object nothing = subject.task(() -> {});
      SplittableRandom random = new SplittableRandom(7);
      Object[] handles = new Object[timeouts];
      for (int i = 0; i < timeouts; i++) {
        handles[i] = subject.start(nothing, random.nextLong(SECONDS.toNanos(10), HOURS.toNanos(1)));
      }
      for (Object handle : handles) {
        subject.cancel(handle);
      }
      if (kind.isTimer()) {
        for (int round = 0; round < EXPIRING_ROUNDS; round++) {
          expireSome(kind, subject, random, timeouts);
        }
      }
    }
  }

  private static void expireSome(
      SubjectKind kind, Subject subject, SplittableRandom random, int timeouts)
      throws InterruptedException {
    Expiries expiries = new Expiries(timeouts);
    long startNanos = System.nanoTime();
    Object task = subject.task(expiries.new Body(startNanos));
    for (int i = 0; i < timeouts; i++) {
      subject.start(task, random.nextLong(MILLISECONDS.toNanos(20), MILLISECONDS.toNanos(500)));
    }
    expiries.await(subject, kind.isPolled(), startNanos + SECONDS.toNanos(20));
    expiries.requireAllIn();
  }
}
