// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import io.timewheel.durable.jdbc.testing.DatabaseServer;
import java.sql.Connection;
import java.util.Locale;
import java.util.Map;

/** The main class of a measurement's JVM: one workload on one subject, on its own server. */
final class DatabaseMeasurement {
  private DatabaseMeasurement() {}

  public static void main(String[] args) throws Exception {
    if (args.length != 4) {
      System.err.println("usage: DatabaseMeasurement WORKLOAD SUBJECT SERVER PARAMETERS");
      System.exit(2);
    }
    ServerPlace.Server kind = ServerPlace.Server.valueOf(args[2].toUpperCase(Locale.ROOT));
    try (DatabaseServer server = kind.start()) {
      Child.exit(
          run(
              Workload.of(args[0]),
              DatabaseSubject.of(args[1]),
              new ServerPlace(kind, server),
              Parameters.parse(args[3])));
    }
  }

  /** Runs the workload. Its parameters may contain {@code nodes} and {@code snapshot}. */
  static Map<String, Double> run(
      Workload workload, DatabaseSubject subject, ServerPlace place, Parameters parameters)
      throws Exception {
    int nodes = (int) parameters.get("nodes", 1);
    Connection snapshot = parameters.get("snapshot", 0) == 1 ? place.snapshot() : null;
    try {
      return workload.run(onFire -> subject.open(place, nodes, onFire), place, parameters);
    } finally {
      if (snapshot != null) {
        snapshot.close();
      }
    }
  }
}
