// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;

/** The workloads of subjects. Each runs in its own JVM, at its own location. */
@SuppressWarnings("ImmutableEnumChecker") // a factory is a lambda or has no state
enum Workload {
  SCHEDULE(new ScheduleWorkload()),
  ASYNC(new AsyncWorkload()),
  FIRE(new FireWorkload()),
  LAG(new LagWorkload()),
  RECUR(new RecurWorkload()),
  FILL(new FillWorkload()),
  REOPEN(new ReopenWorkload()),
  WINDOW(new WindowWorkload()),
  CHURN(new ChurnWorkload());

  /** A workload, which returns figures by name. */
  @FunctionalInterface
  interface Body {
    Map<String, Double> run(Subject.Opener opener, Place place, Parameters parameters)
        throws Exception;
  }

  private final Body body;

  Workload(Body body) {
    this.body = body;
  }

  String id() {
    return name().toLowerCase(Locale.ROOT);
  }

  static Workload of(String id) {
    return Arrays.stream(values())
        .filter(workload -> workload.id().equals(id))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no workload " + id));
  }

  Map<String, Double> run(SubjectKind subject, Path directory, Parameters parameters)
      throws Exception {
    return run(onFire -> subject.open(directory, onFire), Place.directory(directory), parameters);
  }

  Map<String, Double> run(Subject.Opener opener, Place place, Parameters parameters)
      throws Exception {
    return body.run(opener, place, parameters);
  }
}
