// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples.migrating;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.kagkarlsson.scheduler.ScheduledExecution;
import com.github.kagkarlsson.scheduler.SchedulerClient;
import com.github.kagkarlsson.scheduler.serializer.JavaSerializer;
import com.github.kagkarlsson.scheduler.serializer.Serializer;
import com.github.kagkarlsson.scheduler.task.TaskInstanceId;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.RecurringTask;
import com.github.kagkarlsson.scheduler.task.helper.RecurringTaskWithPersistentSchedule;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.github.kagkarlsson.scheduler.task.schedule.CronSchedule;
import com.github.kagkarlsson.scheduler.task.schedule.FixedDelay;
import com.github.kagkarlsson.scheduler.task.schedule.PersistentCronSchedule;
import io.timewheel.durable.BatchResult;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.PayloadCodec;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import io.timewheel.durable.testkit.DurableTestkit;
import java.io.Serializable;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Runs the code about db-scheduler in docs/migrate/durable.md on its real table in PostgreSQL;
 * DocumentationTest compares the two.
 */
@Timeout(60)
final class DbSchedulerMigrationTest {
  private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");

  private final DurableTestkit kit = DurableTestkit.create();
  private final Instant dueAt = kit.now().plus(Duration.ofDays(1));
  private final Serializer serializer = new JavaSerializer();
  private final List<Order> cancelled = new ArrayList<>();
  private final Database database = TestDatabases.postgresql().createDatabase();
  private final DataSource dataSource = database.dataSource();
  private final OneTimeTask<Order> cancel =
      Tasks.oneTime("orders.cancel", Order.class).execute((instance, context) -> {});
  private final RecurringTask<Void> clean =
      Tasks.recurring("clean", FixedDelay.ofHours(1)).execute((instance, context) -> {});
  private final RecurringTaskWithPersistentSchedule<PersistentCronSchedule> reminders =
      Tasks.recurringWithPersistentSchedule("reminders", PersistentCronSchedule.class)
          .execute((instance, context) -> {});
  private final SchedulerClient client =
      SchedulerClient.Builder.create(dataSource, cancel, clean, reminders)
          .serializer(serializer)
          .build();
  private final DurableTimer scheduler =
      kit.start(
          InMemoryTimerStore.create(),
          builder ->
              builder
                  .codec(new SerializerCodec(serializer))
                  .handler("orders.cancel", Order.class, (firing, order) -> cancelled.add(order))
                  .handler("reminders", firing -> {}));

  /** The data of a task. */
  record Order(String id) implements Serializable {}

  // begin
  record SerializerCodec(Serializer serializer) implements PayloadCodec {
    @Override
    public byte[] encode(Object payload) {
      return serializer.serialize(payload);
    }

    @Override
    public <T> T decode(byte[] payload, Class<T> type) {
      return serializer.deserialize(type, payload);
    }
  }

  // end

  @BeforeEach
  void createTable() throws SQLException {
    database.execute(
        """
        create table scheduled_tasks (
          task_name text not null, task_instance text not null, task_data bytea,
          execution_time timestamp with time zone, picked boolean not null, picked_by text,
          last_success timestamp with time zone, last_failure timestamp with time zone,
          consecutive_failures int, last_heartbeat timestamp with time zone,
          version bigint not null, priority smallint, state text,
          primary key (task_name, task_instance))
        """);
  }

  @Test
  void movesOneTimeTasksWithTheirData() throws SQLException {
    for (int i = 0; i < 100; i++) {
      order("order-" + i, dueAt);
    }
    client.scheduleIfNotExists(clean.instance(RecurringTask.INSTANCE), dueAt);
    scheduler.namespace("orders.cancel").pause();

    move();

    assertThat(scheduler.counts().get("orders.cancel").values())
        .containsExactly(
            database.number(
                "SELECT count(*) FROM scheduled_tasks WHERE task_name = 'orders.cancel'"));
    scheduler.namespace("orders.cancel").resume();
    kit.runUntil(dueAt);
    assertThat(cancelled).hasSize(100).contains(new Order("order-42"));
    assertThat(scheduler.stats().failed()).isZero();
  }

  @Test
  void aSecondMoveRepeatsNothing() throws SQLException {
    order("order-42", dueAt);
    move();
    kit.runUntil(dueAt);

    move();
    kit.advanceBy(Duration.ofDays(1));
    assertThat(cancelled).containsExactly(new Order("order-42"));
  }

  @Test
  void onTheWayBackEachTaskRunsInOneOfTheTwo() throws SQLException {
    order("fired", dueAt);
    order("pending", dueAt.plus(Duration.ofDays(1)));
    move();
    kit.runUntil(dueAt);

    for (ScheduledExecution<Order> task :
        client.getScheduledExecutionsForTask("orders.cancel", Order.class)) {
      TaskInstanceId id = task.getTaskInstance();
      if (scheduler.timer(id.getTaskName(), id.getId()).get().orElseThrow().state().isFinished()) {
        client.cancel(id);
      } else {
        scheduler.timer(id.getTaskName(), id.getId()).cancel();
      }
    }

    assertThat(client.getScheduledExecutionsForTask("orders.cancel", Order.class))
        .extracting(task -> task.getTaskInstance().getId())
        .containsExactly("pending");
    kit.advanceBy(Duration.ofDays(2));
    assertThat(cancelled).containsExactly(new Order("fired"));
  }

  @Test
  void movesPersistentSchedules() {
    PersistentCronSchedule cron = new PersistentCronSchedule("0 0 9 * * MON-FRI", BERLIN);
    client.scheduleIfNotExists(reminders.schedulableInstance("anna", cron));

    // begin
    for (ScheduledExecution<PersistentCronSchedule> task :
        client.getScheduledExecutionsForTask("reminders", PersistentCronSchedule.class)) {
      CronSchedule schedule = (CronSchedule) task.getData().getSchedule();
      scheduler.schedule(
          TimerSpec.of("reminders", task.getTaskInstance().getId())
              .cron(schedule.getPattern(), BERLIN)
              .handler("reminders"));
    }
    // end

    assertThat(scheduler.timer("reminders", "anna").get().orElseThrow().dueAt())
        .isEqualTo(Instant.parse("2026-01-01T08:00:00Z")); // a Thursday
  }

  private void order(String id, Instant at) {
    client.scheduleIfNotExists(cancel.instance(id, new Order(id)), at);
  }

  private void move() throws SQLException {
    // begin
    List<TimerSpec> specs = new ArrayList<>();
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement();
        ResultSet tasks =
            statement.executeQuery(
                "SELECT task_name, task_instance, execution_time, task_data"
                    + " FROM scheduled_tasks WHERE task_name = 'orders.cancel'")) {
      while (tasks.next()) {
        byte[] data = tasks.getBytes("task_data");
        specs.add(
            TimerSpec.of(tasks.getString("task_name"), tasks.getString("task_instance"))
                .at(tasks.getTimestamp("execution_time").toInstant())
                .handler(tasks.getString("task_name"))
                .payload(data == null ? new byte[0] : data)
                .evenIfFinished());
      }
    }
    scheduler.scheduleAll(specs).forEach(BatchResult::orThrow);
    // end
  }
}
