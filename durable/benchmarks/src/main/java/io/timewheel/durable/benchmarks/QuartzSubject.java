// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import static java.util.Objects.requireNonNull;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.Date;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobDetail;
import org.quartz.JobExecutionContext;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.SimpleScheduleBuilder;
import org.quartz.Trigger;
import org.quartz.TriggerBuilder;
import org.quartz.TriggerKey;
import org.quartz.impl.StdSchedulerFactory;

/**
 * Quartz with {@code JobStoreTX} on H2: triggers of one durable job, so that a timer is one row and
 * its details; acquired in batches as large as the pool of threads, under the lock, as its
 * documentation asks for batches; with the indexes of its script for PostgreSQL, which that for H2
 * lacks.
 */
final class QuartzSubject implements Subject {
  private static final String GROUP = "shop";
  private static final String DATA = "payload";
  private static final String ON_FIRE = "onFire";
  private static final int THREADS = 32;
  private static final List<String> INDEXES =
      List.of(
          "qrtz_triggers(sched_name, next_fire_time)",
          "qrtz_triggers(sched_name, trigger_state, next_fire_time)",
          "qrtz_triggers(sched_name, job_name, job_group)",
          "qrtz_fired_triggers(sched_name, trigger_name, trigger_group)",
          "qrtz_fired_triggers(sched_name, job_name, job_group)");

  private final Scheduler scheduler;
  private final JobDetail job;

  QuartzSubject(Path directory, OnFire onFire) throws Exception {
    String url = H2.url(directory);
    createTables(url);
    scheduler = new StdSchedulerFactory(properties(url)).getScheduler();
    scheduler.getContext().put(ON_FIRE, onFire);
    job = JobBuilder.newJob(Fire.class).withIdentity("cancel", GROUP).storeDurably().build();
    scheduler.addJob(job, true);
    scheduler.start();
  }

  private static void createTables(String url) throws Exception {
    try (Connection connection = DriverManager.getConnection(url, "sa", "");
        Statement statement = connection.createStatement()) {
      if (!connection.getMetaData().getTables(null, null, "QRTZ_TRIGGERS", null).next()) {
        statement.execute("runscript from 'classpath:org/quartz/impl/jdbcjobstore/tables_h2.sql'");
        for (int i = 0; i < INDEXES.size(); i++) {
          statement.execute("create index idx_qrtz_" + i + " on " + INDEXES.get(i));
        }
      }
    }
  }

  private static Properties properties(String url) {
    Properties properties = new Properties();
    properties.putAll(
        Map.ofEntries(
            Map.entry("org.quartz.scheduler.instanceName", "benchmark"),
            Map.entry("org.quartz.scheduler.skipUpdateCheck", "true"),
            Map.entry("org.quartz.scheduler.batchTriggerAcquisitionMaxCount", "" + THREADS),
            Map.entry("org.quartz.scheduler.idleWaitTime", "1000"),
            Map.entry("org.quartz.threadPool.threadCount", "" + THREADS),
            Map.entry("org.quartz.jobStore.class", "org.quartz.impl.jdbcjobstore.JobStoreTX"),
            Map.entry(
                "org.quartz.jobStore.driverDelegateClass",
                "org.quartz.impl.jdbcjobstore.StdJDBCDelegate"),
            Map.entry("org.quartz.jobStore.useProperties", "true"),
            Map.entry("org.quartz.jobStore.acquireTriggersWithinLock", "true"),
            // What is late is not missed here: looking for missed ones would only cost time.
            Map.entry("org.quartz.jobStore.misfireThreshold", "3600000"),
            Map.entry("org.quartz.jobStore.dataSource", "h2"),
            Map.entry("org.quartz.dataSource.h2.provider", "hikaricp"),
            Map.entry("org.quartz.dataSource.h2.driver", "org.h2.Driver"),
            Map.entry("org.quartz.dataSource.h2.URL", url),
            Map.entry("org.quartz.dataSource.h2.user", "sa"),
            Map.entry("org.quartz.dataSource.h2.password", ""),
            Map.entry("org.quartz.dataSource.h2.maxConnections", "" + (THREADS + 8))));
    return properties;
  }

  /** What every trigger fires. */
  public static final class Fire implements Job {
    @Override
    public void execute(JobExecutionContext context) {
      try {
        Object onFire = context.getScheduler().getContext().get(ON_FIRE);
        ((OnFire) requireNonNull(onFire, ON_FIRE)).fired(context.getTrigger().getKey().getName());
      } catch (SchedulerException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  @Override
  public void schedule(List<Order> orders) throws SchedulerException {
    if (orders.size() == 1) {
      scheduler.scheduleJob(trigger(orders.get(0)));
    } else {
      Set<Trigger> triggers = new HashSet<>();
      orders.forEach(each -> triggers.add(trigger(each)));
      scheduler.scheduleJobs(Map.of(job, triggers), true);
    }
  }

  @SuppressWarnings("JavaUtilDate") // Quartz wants it
  private Trigger trigger(Order timer) {
    return TriggerBuilder.newTrigger()
        .withIdentity(timer.id(), GROUP)
        .forJob(job)
        .usingJobData(DATA, timer.payload())
        .startAt(new Date(timer.dueMillis()))
        .withSchedule(SimpleScheduleBuilder.simpleSchedule())
        .build();
  }

  @Override
  public void cancel(List<String> ids) throws SchedulerException {
    scheduler.unscheduleJobs(ids.stream().map(id -> new TriggerKey(id, GROUP)).toList());
  }

  @Override
  public void close() {
    try {
      // With jobs overdue, to wait for those that run takes until all have run.
      scheduler.shutdown(false);
    } catch (SchedulerException e) {
      throw new IllegalStateException(e);
    }
  }
}
