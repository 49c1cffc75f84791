// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.SchedulerBuilder;
import com.github.kagkarlsson.scheduler.serializer.Serializer;
import com.github.kagkarlsson.scheduler.task.SchedulableInstance;
import com.github.kagkarlsson.scheduler.task.TaskInstance;
import com.github.kagkarlsson.scheduler.task.TaskInstanceId;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.jdbc.testing.Database;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** db-scheduler, with the table and the indexes of its documentation. */
final class DbSchedulerSubject implements Subject {
  private static final int H2_THREADS = 32;

  private static final String TABLE =
      """
      create table if not exists scheduled_tasks (
        task_name varchar(100), task_instance varchar(100), task_data %s, execution_time %s,
        picked %s, picked_by varchar(50), last_success %s, last_failure %s,
        consecutive_failures int, last_heartbeat %s, version bigint, priority int,
        primary key (task_name, task_instance))
      """;
  private static final List<String> INDEXES =
      List.of(
          "create index if not exists execution_time_idx on scheduled_tasks(execution_time)",
          "create index if not exists last_heartbeat_idx on scheduled_tasks(last_heartbeat)");

  /** Passes the payload through, because it is bytes already. */
  private static final Serializer BYTES =
      new Serializer() {
        @Override
        public byte[] serialize(Object data) {
          return (byte[]) data;
        }

        @Override
        public <T> T deserialize(Class<T> type, byte[] bytes) {
          return type.cast(bytes);
        }
      };

  private final HikariDataSource dataSource;
  private final OneTimeTask<byte[]> task;
  private final Scheduler scheduler;

  private DbSchedulerSubject(
      HikariDataSource dataSource, String table, Consumer<SchedulerBuilder> settings, OnFire onFire)
      throws SQLException {
    this.dataSource = dataSource;
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(table);
      for (String sql : INDEXES) {
        statement.execute(sql);
      }
    }
    task =
        Tasks.oneTime("cancel", byte[].class)
            .execute((instance, context) -> onFire.fired(instance.getId()));
    SchedulerBuilder builder =
        Scheduler.create(dataSource, task)
            .serializer(BYTES)
            .shutdownMaxWait(Duration.ofSeconds(10));
    settings.accept(builder);
    scheduler = builder.build();
    scheduler.start();
  }

  /**
   * Opens db-scheduler on H2. It polls every 50 ms, and again when half of a batch has completed. A
   * batch is six times its threads. Its faster mode, lock-and-fetch, does not support H2. Tasks
   * that are due when scheduled start at once.
   */
  static Subject onH2(Path directory, OnFire onFire) throws SQLException {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(H2.url(directory));
    config.setUsername("sa");
    config.setMaximumPoolSize(H2_THREADS + 8);
    String time = "timestamp with time zone";
    return new DbSchedulerSubject(
        new HikariDataSource(config),
        TABLE.formatted("blob", time, "bit", time, time, time),
        builder ->
            builder
                .threads(H2_THREADS)
                .pollingInterval(Duration.ofMillis(50))
                .pollUsingFetch(3.0, 6.0)
                .enableImmediateExecution(),
        onFire);
  }

  /** Uses the defaults. */
  static Subject byDefault(ServerPlace place, int nodes, OnFire onFire) throws SQLException {
    return onServer(place, 18, builder -> {}, onFire);
  }

  /**
   * Uses the fastest of several settings. On PostgreSQL it locks the fetched tasks. Ten times a
   * second, it fetches enough to keep its threads busy. Tasks that are due when scheduled start at
   * once.
   */
  static Subject atItsBest(ServerPlace place, int nodes, OnFire onFire) throws SQLException {
    Consumer<SchedulerBuilder> settings =
        switch (place.kind()) {
          case POSTGRESQL -> builder -> builder.threads(20).pollUsingLockAndFetch(4.0, 20.0);
          case MARIADB -> builder -> builder.threads(50).pollUsingFetch(3.0, 6.0);
        };
    return onServer(
        place,
        58,
        settings.andThen(
            builder -> builder.pollingInterval(Duration.ofMillis(100)).enableImmediateExecution()),
        onFire);
  }

  private static Subject onServer(
      ServerPlace place, int connections, Consumer<SchedulerBuilder> settings, OnFire onFire)
      throws SQLException {
    Database database = place.database();
    String table;
    switch (place.kind()) {
      case POSTGRESQL -> {
        String time = "timestamp with time zone";
        table = TABLE.formatted("bytea", time, "boolean", time, time, time);
        database = database.with("reWriteBatchedInserts", true); // for its lists
      }
      case MARIADB -> {
        String time = "timestamp(6) null";
        table = TABLE.formatted("blob", time, "boolean", time, time, time);
      }
      default -> throw new AssertionError(place.kind());
    }
    return new DbSchedulerSubject(database.pool(connections), table, settings, onFire);
  }

  @Override
  public void schedule(List<Order> orders) {
    if (orders.size() == 1) {
      scheduler.schedule(instance(orders.get(0)));
    } else {
      Stream<SchedulableInstance<?>> instances = orders.stream().map(this::instance);
      scheduler.scheduleBatch(instances.toList());
    }
  }

  private SchedulableInstance<byte[]> instance(Order order) {
    TaskInstance<byte[]> instance = task.instance(order.id(), order.payloadBytes());
    return SchedulableInstance.of(instance, Instant.ofEpochMilli(order.dueMillis()));
  }

  /** Counts the remaining tasks. A task is deleted on completion. */
  @Override
  public long unfinished() throws SQLException {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT count(*) FROM scheduled_tasks")) {
      rows.next();
      return rows.getLong(1);
    }
  }

  @Override
  public void cancel(List<String> ids) {
    ids.forEach(id -> scheduler.cancel(TaskInstanceId.of(task.getName(), id)));
  }

  @Override
  public void close() {
    scheduler.stop();
    dataSource.close();
  }
}
