// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.TimerSpec;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Date;
import java.util.Properties;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobDetail;
import org.quartz.JobExecutionContext;
import org.quartz.Scheduler;
import org.quartz.SimpleScheduleBuilder;
import org.quartz.Trigger;
import org.quartz.TriggerBuilder;
import org.quartz.TriggerKey;
import org.quartz.impl.StdSchedulerFactory;
import org.quartz.impl.matchers.GroupMatcher;

/** Verifies the loop in docs/migrate/durable.md. DocumentationTest of the examples compares it. */
@Timeout(60)
@SuppressWarnings("JavaUtilDate") // the type of Quartz
final class QuartzMigrationTest {
  /** The job of all triggers. */
  static final class Cancel implements Job {
    @Override
    public void execute(JobExecutionContext context) {}
  }

  @Test
  @SuppressWarnings("UndefinedEquals") // both times are of the class Date
  void movesTriggersThatFireOnceMore() throws Exception {
    Properties properties = new Properties();
    properties.setProperty("org.quartz.scheduler.instanceName", "migration");
    properties.setProperty("org.quartz.scheduler.skipUpdateCheck", "true");
    properties.setProperty("org.quartz.threadPool.threadCount", "1");
    Scheduler scheduler = new StdSchedulerFactory(properties).getScheduler(); // not started
    Instant dueAt = Instant.now().plus(Duration.ofDays(1)).truncatedTo(ChronoUnit.MILLIS);
    JobDetail job = JobBuilder.newJob(Cancel.class).withIdentity("orders.cancel").build();
    scheduler.scheduleJob(
        job, Set.of(once("order-42", dueAt), once("paused", dueAt), recurring(dueAt)), false);
    scheduler.pauseTrigger(TriggerKey.triggerKey("paused", "shop"));
    DurableTimer timer = DurableTimer.builder(InMemoryTimerStore.create()).build();
    // begin
    for (TriggerKey key : scheduler.getTriggerKeys(GroupMatcher.anyGroup())) {
      Trigger trigger = scheduler.getTrigger(key);
      Date time = trigger.getNextFireTime();
      boolean paused = scheduler.getTriggerState(key) == Trigger.TriggerState.PAUSED;
      if (!paused && time != null && time.equals(trigger.getFinalFireTime())) {
        timer.schedule(
            TimerSpec.of(key.getGroup(), key.getName())
                .at(time.toInstant())
                .handler(trigger.getJobKey().getName())
                .evenIfFinished());
      }
    }
    // end
    scheduler.shutdown();

    assertThat(timer.get("shop", "order-42"))
        .hasValueSatisfying(
            moved -> {
              assertThat(moved.dueAt()).isEqualTo(dueAt);
              assertThat(moved.handler()).contains("orders.cancel");
            });
    assertThat(timer.get("shop", "poll")).isEmpty();
    assertThat(timer.get("shop", "paused")).isEmpty();
    timer.close();
  }

  private static Trigger once(String id, Instant at) {
    return TriggerBuilder.newTrigger().withIdentity(id, "shop").startAt(Date.from(at)).build();
  }

  private static Trigger recurring(Instant from) {
    return TriggerBuilder.newTrigger()
        .withIdentity("poll", "shop")
        .startAt(Date.from(from))
        .withSchedule(SimpleScheduleBuilder.repeatMinutelyForever())
        .build();
  }
}
