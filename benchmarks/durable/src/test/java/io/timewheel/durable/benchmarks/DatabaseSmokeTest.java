// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.jdbc.testing.DatabaseServer;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import java.sql.Connection;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Runs every workload on a shared database briefly, without a measurement. */
@Tag("proof")
@Execution(ExecutionMode.CONCURRENT)
@Timeout(300)
final class DatabaseSmokeTest {
  /** The only JobRunr subject: a JVM has one JobRunr. */
  private static final String JOBRUNR = "jobrunr";

  private static final String FIRE = "timers=200,leadMillis=1000,limitMillis=60000";

  private static Map<String, Double> run(
      Workload workload, DatabaseSubject subject, ServerPlace place, String parameters)
      throws Exception {
    return DatabaseMeasurement.run(workload, subject, place, Parameters.parse(parameters));
  }

  private static ServerPlace place(ServerPlace.Server kind) {
    DatabaseServer server =
        switch (kind) {
          case POSTGRESQL -> TestDatabases.postgresql();
          case MARIADB -> TestDatabases.mariadb();
        };
    return new ServerPlace(kind, server);
  }

  private static ServerPlace place() {
    return place(ServerPlace.Server.POSTGRESQL);
  }

  @Test
  void schedules() throws Exception {
    String parameters = "callers=2,batch=%d,warmupMillis=0,millis=500";

    assertThat(run(Workload.SCHEDULE, DatabaseSubject.OURS, place(), parameters.formatted(1)))
        .containsKeys("perSecond", "serverMicros", "cpuMicros");
    assertThat(run(Workload.SCHEDULE, DatabaseSubject.OURS, place(), parameters.formatted(10)))
        .containsKeys("perSecond", "p50Millis");
  }

  @Test
  void schedulesWithoutWaiting() throws Exception {
    assertThat(run(Workload.ASYNC, DatabaseSubject.OURS, place(), "warmupMillis=500,millis=500"))
        .containsKeys("perSecond", "serverMicros", "cpuMicros");
  }

  @ParameterizedTest
  @EnumSource(ServerPlace.Server.class)
  void firesOnEachServer(ServerPlace.Server kind) throws Exception {
    ServerPlace place = place(kind);

    assertThat(run(Workload.FIRE, DatabaseSubject.OURS, place, FIRE))
        .hasEntrySatisfying("perSecond", each -> assertThat(each).isPositive());
    assertThat(place.database().number("SELECT count(*) FROM timewheel_timer")).isZero();
    assertThat(place.bytes()).isPositive();
  }

  @ParameterizedTest
  @EnumSource(names = {"EFFECTS", "EFFECTS_BATCH", "EFFECTS_JDBC_BATCH", "BARE", "BARE_BATCH"})
  void eachEffectHappensOnce(DatabaseSubject subject) throws Exception {
    ServerPlace place = place();

    run(Workload.FIRE, subject, place, FIRE);

    assertThat(place.database().number("SELECT count(*) FROM ledger")).isEqualTo(400);
    assertThat(place.database().number("SELECT count(DISTINCT id) FROM ledger")).isEqualTo(400);
  }

  @Test
  void recurs() throws Exception {
    ServerPlace place = place();
    String parameters = "timers=20,everyMillis=100,leadMillis=2000,warmupMillis=0,millis=2000";

    assertThat(run(Workload.RECUR, DatabaseSubject.OURS, place, parameters))
        .containsEntry("offeredPerSecond", 200.0);
    assertThat(place.database().number("SELECT count(*) FROM timewheel_timer")).isEqualTo(20);
  }

  @Test
  void firesEveryTimerInTime() throws Exception {
    String parameters =
        "perSecond=20,warmupMillis=100,millis=500,leadMillis=5000,limitMillis=60000";

    assertThat(run(Workload.LAG, DatabaseSubject.OURS, place(), parameters))
        .containsEntry("unfired", 0.0)
        .containsKeys("serverCores", "clientCores");
  }

  /** A due job runs at its next poll of the table, which the defaults delay. */
  @ParameterizedTest
  @EnumSource(names = {"DB_SCHEDULER_BEST", "QUARTZ_BEST", "JOBRUNR_BEST", "DBOS_BEST"})
  @ResourceLock(JOBRUNR)
  void peersFire(DatabaseSubject subject) throws Exception {
    String parameters = "timers=10,leadMillis=1000,limitMillis=60000";

    assertThat(run(Workload.FIRE, subject, place(), parameters).get("perSecond")).isPositive();
  }

  @ParameterizedTest
  @EnumSource(names = {"DB_SCHEDULER", "QUARTZ", "JOBRUNR", "DBOS"})
  @ResourceLock(JOBRUNR)
  void peersAreFilled(DatabaseSubject subject) throws Exception {
    assertThat(run(Workload.FILL, subject, place(), "timers=20").get("bytesPerTimer")).isPositive();
  }

  @Test
  void dbSchedulerFiresOnMariaDb() throws Exception {
    ServerPlace place = place(ServerPlace.Server.MARIADB);

    assertThat(run(Workload.FIRE, DatabaseSubject.DB_SCHEDULER_BEST, place, FIRE))
        .containsKey("serverMicros");
  }

  @Test
  void nodesDivideTheWork() throws Exception {
    assertThat(run(Workload.FIRE, DatabaseSubject.OURS, place(), FIRE + ",nodes=2"))
        .containsKey("perSecond");
  }

  @Test
  void aSnapshotIsHeldMeanwhile() throws Exception {
    ServerPlace place = place();
    String holders =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            + " AND backend_xmin IS NOT NULL AND state = 'idle in transaction'";

    try (Connection snapshot = place.snapshot()) {
      assertThat(snapshot.getAutoCommit()).isFalse();
      assertThat(place.database().number(holders)).isOne();
    }
    String parameters =
        "perSecond=20,warmupMillis=100,millis=500,leadMillis=5000,limitMillis=60000,snapshot=1";
    assertThat(run(Workload.LAG, DatabaseSubject.OURS, place, parameters))
        .containsEntry("unfired", 0.0);
  }

  @Test
  void thePlanHasAllSections() {
    assertThat(
            DatabasePlan.of(ServerPlace.Server.POSTGRESQL, 1, 1, 2).stream()
                .map(DatabasePlan.Cell::section)
                .distinct())
        .containsExactly(DatabaseSection.values());
    assertThat(DatabasePlan.of(ServerPlace.Server.MARIADB, 1, 1, 2))
        .allMatch(cell -> cell.rounds() == (cell.subject() == DatabaseSubject.DB_SCHEDULER ? 1 : 2))
        .anyMatch(cell -> cell.subject() == DatabaseSubject.DB_SCHEDULER_BEST);
  }
}
