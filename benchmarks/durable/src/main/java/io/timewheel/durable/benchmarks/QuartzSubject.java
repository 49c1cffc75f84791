// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import static java.util.Objects.requireNonNull;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.Date;
import java.util.HashMap;
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
import org.quartz.impl.matchers.GroupMatcher;

/**
 * Quartz with {@code JobStoreTX}. Timers are triggers of one durable job, so a timer is one row and
 * its details.
 */
final class QuartzSubject implements Subject {
  private static final String DELEGATE = "org.quartz.jobStore.driverDelegateClass";
  private static final String DATA_SOURCE = "org.quartz.dataSource.";
  private static final String GROUP = "shop";
  private static final String DATA = "payload";
  private static final String ON_FIRE = "onFire";
  private static final int H2_THREADS = 32;
  private static final int BEST_THREADS = 50;
  private static final List<String> INDEXES =
      List.of(
          "qrtz_triggers(sched_name, next_fire_time)",
          "qrtz_triggers(sched_name, trigger_state, next_fire_time)",
          "qrtz_triggers(sched_name, job_name, job_group)",
          "qrtz_fired_triggers(sched_name, trigger_name, trigger_group)",
          "qrtz_fired_triggers(sched_name, job_name, job_group)");

  private final Scheduler scheduler;
  private final JobDetail job;

  /**
   * Creates the subject. A JVM has one Quartz scheduler and one data source for each name, so each
   * URL has its own.
   */
  private QuartzSubject(Source source, Map<String, String> settings, OnFire onFire)
      throws SchedulerException {
    String name = "benchmark-" + Integer.toHexString(source.url.hashCode());
    Properties properties = new Properties();
    properties.put("org.quartz.scheduler.instanceName", name);
    properties.put("org.quartz.scheduler.skipUpdateCheck", "true");
    properties.put("org.quartz.jobStore.class", "org.quartz.impl.jdbcjobstore.JobStoreTX");
    properties.put("org.quartz.jobStore.useProperties", "true");
    // No trigger counts as misfired, because the search for misfired triggers would only take time.
    properties.put("org.quartz.jobStore.misfireThreshold", "3600000");
    properties.put("org.quartz.jobStore.dataSource", name);
    source.settings().forEach((key, value) -> properties.put(DATA_SOURCE + name + key, value));
    properties.putAll(settings);
    scheduler = new StdSchedulerFactory(properties).getScheduler();
    scheduler.getContext().put(ON_FIRE, onFire);
    job = JobBuilder.newJob(Fire.class).withIdentity("cancel", GROUP).storeDurably().build();
    scheduler.addJob(job, true);
    scheduler.start();
  }

  private record Source(String driver, String url, String user, int connections) {
    Map<String, String> settings() {
      return Map.of(
          ".provider",
          "hikaricp",
          ".driver",
          driver,
          ".URL",
          url,
          ".user",
          user,
          ".password",
          "",
          ".maxConnections",
          "" + connections);
    }
  }

  /**
   * Acquires triggers in batches as large as the pool, under the lock that Quartz requires for
   * batches.
   */
  private static Map<String, String> batches(int threads) {
    return Map.of(
        "org.quartz.scheduler.batchTriggerAcquisitionMaxCount",
        "" + threads,
        "org.quartz.scheduler.idleWaitTime",
        "1000",
        "org.quartz.threadPool.threadCount",
        "" + threads,
        "org.quartz.jobStore.acquireTriggersWithinLock",
        "true");
  }

  /** Uses batches, and the indexes of its script for PostgreSQL, which its script for H2 lacks. */
  static Subject onH2(Path directory, OnFire onFire) throws Exception {
    String url = H2.url(directory);
    createTables(url);
    Map<String, String> settings = new HashMap<>(batches(H2_THREADS));
    settings.put(DELEGATE, "org.quartz.impl.jdbcjobstore.StdJDBCDelegate");
    Source source = new Source("org.h2.Driver", url, "sa", H2_THREADS + 8);
    return new QuartzSubject(source, settings, onFire);
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

  /** Uses the defaults of a cluster, with the number of threads in its own properties. */
  static Subject byDefault(ServerPlace place, int nodes, OnFire onFire) throws Exception {
    return clustered(place, Map.of("org.quartz.threadPool.threadCount", "10"), 18, onFire);
  }

  /** Uses a cluster with batches. */
  static Subject atItsBest(ServerPlace place, int nodes, OnFire onFire) throws Exception {
    return clustered(place, batches(BEST_THREADS), BEST_THREADS + 8, onFire);
  }

  private static Subject clustered(
      ServerPlace place, Map<String, String> tuning, int connections, OnFire onFire)
      throws Exception {
    String script = "/org/quartz/impl/jdbcjobstore/tables_postgres.sql";
    try (InputStream sql = requireNonNull(Scheduler.class.getResourceAsStream(script), script)) {
      place.database().execute(new String(sql.readAllBytes(), StandardCharsets.UTF_8));
    }
    Map<String, String> settings = new HashMap<>(tuning);
    settings.put(DELEGATE, "org.quartz.impl.jdbcjobstore.PostgreSQLDelegate");
    settings.put("org.quartz.scheduler.instanceId", "AUTO");
    settings.put("org.quartz.jobStore.isClustered", "true");
    Source source =
        new Source(
            "org.postgresql.Driver", place.database().url(), place.database().user(), connections);
    return new QuartzSubject(source, settings, onFire);
  }

  /** The job of every trigger. */
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

  @SuppressWarnings("JavaUtilDate") // Quartz requires it
  private Trigger trigger(Order timer) {
    return TriggerBuilder.newTrigger()
        .withIdentity(timer.id(), GROUP)
        .forJob(job)
        .usingJobData(DATA, timer.payload())
        .startAt(new Date(timer.dueMillis()))
        .withSchedule(SimpleScheduleBuilder.simpleSchedule())
        .build();
  }

  /**
   * Counts unfinished triggers. Quartz deletes a trigger when its job starts, and the record of the
   * fired trigger when its job ends.
   */
  @Override
  public long unfinished() throws SchedulerException {
    long triggers = scheduler.getTriggerKeys(GroupMatcher.triggerGroupEquals(GROUP)).size();
    return triggers + scheduler.getCurrentlyExecutingJobs().size();
  }

  @Override
  public void cancel(List<String> ids) throws SchedulerException {
    scheduler.unscheduleJobs(ids.stream().map(id -> new TriggerKey(id, GROUP)).toList());
  }

  @Override
  public void close() {
    try {
      // With overdue jobs, a shutdown that waits would last until all jobs have run.
      scheduler.shutdown(false);
    } catch (SchedulerException e) {
      throw new IllegalStateException(e);
    }
  }
}
