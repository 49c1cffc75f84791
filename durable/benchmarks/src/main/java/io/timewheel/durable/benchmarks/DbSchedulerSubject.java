// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.serializer.Serializer;
import com.github.kagkarlsson.scheduler.task.SchedulableInstance;
import com.github.kagkarlsson.scheduler.task.TaskInstance;
import com.github.kagkarlsson.scheduler.task.TaskInstanceId;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;

/**
 * db-scheduler on H2, with the table and the indexes of its documentation. It looks for work every
 * 50 ms, and again when half of a batch is done; a batch is six times its threads. Lock-and-fetch,
 * its faster way, is not there for H2. Tasks that are due when scheduled start at once.
 */
final class DbSchedulerSubject implements Subject {
  private static final int THREADS = 32;
  private static final List<String> TABLE =
      List.of(
          """
          create table if not exists scheduled_tasks (
            task_name varchar(100), task_instance varchar(100), task_data blob,
            execution_time timestamp with time zone, picked bit, picked_by varchar(50),
            last_success timestamp with time zone, last_failure timestamp with time zone,
            consecutive_failures int, last_heartbeat timestamp with time zone,
            version bigint, priority int, primary key (task_name, task_instance))
          """,
          "create index if not exists execution_time_idx on scheduled_tasks(execution_time)",
          "create index if not exists last_heartbeat_idx on scheduled_tasks(last_heartbeat)");

  /** The payload is bytes already. */
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

  DbSchedulerSubject(Path directory, OnFire onFire) throws Exception {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(H2.url(directory));
    config.setUsername("sa");
    config.setMaximumPoolSize(THREADS + 8);
    dataSource = new HikariDataSource(config);
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      for (String sql : TABLE) {
        statement.execute(sql);
      }
    }
    task =
        Tasks.oneTime("cancel", byte[].class)
            .execute((instance, context) -> onFire.fired(instance.getId()));
    scheduler =
        Scheduler.create(dataSource, task)
            .threads(THREADS)
            .serializer(BYTES)
            .pollingInterval(Duration.ofMillis(50))
            .pollUsingFetch(3.0, 6.0)
            .enableImmediateExecution()
            .shutdownMaxWait(Duration.ofSeconds(10))
            .build();
    scheduler.start();
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
