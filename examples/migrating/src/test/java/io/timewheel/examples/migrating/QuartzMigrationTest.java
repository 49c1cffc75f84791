// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples.migrating;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.TimerInfo;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.testkit.DurableTestkit;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobDetail;
import org.quartz.JobExecutionContext;
import org.quartz.JobKey;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.SimpleScheduleBuilder;
import org.quartz.Trigger;
import org.quartz.TriggerBuilder;
import org.quartz.TriggerKey;
import org.quartz.impl.StdSchedulerFactory;
import org.quartz.impl.matchers.GroupMatcher;

/** Runs the code about Quartz in docs/migrate/durable.md; DocumentationTest compares the two. */
@Timeout(60)
@SuppressWarnings({
  "JavaUtilDate", // the type of Quartz
  "FutureReturnValueIgnored" // the result is visible in the timer
})
final class QuartzMigrationTest {
  private final DurableTestkit kit = DurableTestkit.create();
  private final Instant dueAt = kit.now().plus(Duration.ofDays(1)).truncatedTo(ChronoUnit.MILLIS);
  private final List<String> ran = new ArrayList<>();
  private final DurableTimer scheduler =
      kit.start(
          InMemoryTimerStore.create(),
          builder ->
              builder.handler(
                  "orders.cancel",
                  firing -> ran.add(firing.id() + " of " + firing.headers().get("customer"))));
  private Scheduler quartz;

  /** The job of each order. */
  static final class CancelOrder implements Job {
    @Override
    public void execute(JobExecutionContext context) {}
  }

  /** A job without a handler. */
  static final class Forgotten implements Job {
    @Override
    public void execute(JobExecutionContext context) {}
  }

  @BeforeEach
  void createScheduler() throws SchedulerException {
    Properties properties = new Properties();
    properties.setProperty("org.quartz.scheduler.instanceName", "migration");
    properties.setProperty("org.quartz.scheduler.skipUpdateCheck", "true");
    properties.setProperty("org.quartz.threadPool.threadCount", "1");
    quartz = new StdSchedulerFactory(properties).getScheduler(); // not started
  }

  @AfterEach
  void shutDown() throws SchedulerException {
    quartz.shutdown();
  }

  @Test
  void movesTriggersThatFireOnceMore() throws SchedulerException {
    order("order-42");
    order("order-43");
    order("paused");
    quartz.pauseTrigger(TriggerKey.triggerKey("paused", "shop"));
    quartz.scheduleJob(
        job(CancelOrder.class, "poll"),
        trigger("poll").withSchedule(SimpleScheduleBuilder.repeatMinutelyForever()).build());
    scheduler.namespace("shop").pause();
    long before = count();

    int moved = move();

    assertThat(moved).isEqualTo(2);
    assertThat(count() - before).isEqualTo(moved);
    assertThat(scheduler.timer("shop", "order-42").get().orElseThrow().dueAt()).isEqualTo(dueAt);
    assertThat(scheduler.timer("shop", "poll").get()).isEmpty();
    assertThat(scheduler.timer("shop", "paused").get()).isEmpty();
    scheduler.namespace("shop").resume();
    kit.runUntil(dueAt);
    assertThat(ran).containsExactlyInAnyOrder("order-42 of 7", "order-43 of 7");
  }

  @Test
  void aSecondMoveRepeatsNothing() throws SchedulerException {
    order("order-42");
    move();
    kit.runUntil(dueAt);

    move();
    kit.advanceBy(Duration.ofDays(1));
    assertThat(ran).containsExactly("order-42 of 7");
  }

  @Test
  void stopsAtAJobWithoutAHandler() throws SchedulerException {
    quartz.scheduleJob(job(Forgotten.class, "forgotten"), trigger("forgotten").build());

    assertThatThrownBy(this::move).hasMessageContaining("Forgotten has no handler");
  }

  @Test
  void onTheWayBackEachJobRunsInOneOfTheTwo() throws SchedulerException {
    order("fired");
    order("cancelled");
    kit.advanceBy(Duration.ofHours(1));
    quartz.scheduleJob(
        job(CancelOrder.class, "pending"), trigger("pending").startAt(later()).build());
    move();
    scheduler.timer("shop", "cancelled").cancel();
    kit.runUntil(dueAt);

    goBack();

    assertThat(ran).containsExactly("fired of 7");
    assertThat(quartz.getTriggerKeys(GroupMatcher.anyGroup()))
        .containsExactly(TriggerKey.triggerKey("pending", "shop"));
    assertThat(scheduler.timer("shop", "pending").get().orElseThrow().state())
        .isEqualTo(TimerState.CANCELLED);
    kit.advanceBy(Duration.ofDays(2));
    assertThat(ran).containsExactly("fired of 7");
  }

  /** The count of docs/migrate/durable.md. */
  private long count() {
    long timers =
        scheduler.counts().getOrDefault("shop", Map.of()).values().stream().mapToLong(n -> n).sum();
    return timers;
  }

  @SuppressWarnings("UndefinedEquals") // both times are of the class Date
  private int move() throws SchedulerException {
    // begin
    Map<Class<? extends Job>, String> handlers = Map.of(CancelOrder.class, "orders.cancel");
    int moved = 0;
    for (TriggerKey key : quartz.getTriggerKeys(GroupMatcher.anyGroup())) {
      Trigger trigger = quartz.getTrigger(key);
      Date time = trigger.getNextFireTime();
      boolean paused = quartz.getTriggerState(key) == Trigger.TriggerState.PAUSED;
      if (!paused && time != null && time.equals(trigger.getFinalFireTime())) {
        JobDetail job = quartz.getJobDetail(trigger.getJobKey());
        String handler = handlers.get(job.getJobClass());
        Map<String, String> data = new HashMap<>();
        job.getJobDataMap().forEach((name, value) -> data.put(name, value.toString()));
        trigger.getJobDataMap().forEach((name, value) -> data.put(name, value.toString()));
        scheduler.schedule(
            TimerSpec.of(key.getGroup(), key.getName())
                .at(time.toInstant())
                .handler(requireNonNull(handler, () -> job.getJobClass() + " has no handler"))
                .headers(data)
                .evenIfFinished());
        moved++;
      }
    }
    // end
    return moved;
  }

  private void goBack() throws SchedulerException {
    // begin
    scheduler.namespace("shop").pause(); // and wait until it returns 0: no attempt is running
    for (TriggerKey key : quartz.getTriggerKeys(GroupMatcher.groupEquals("shop"))) {
      Optional<TimerInfo> moved = scheduler.timer(key.getGroup(), key.getName()).get();
      if (moved.isPresent() && moved.get().state().isFinished()) {
        quartz.unscheduleJob(key);
      } else {
        scheduler.timer(key.getGroup(), key.getName()).cancel();
      }
    }
    scheduler.namespace("shop").resume();
    // end
  }

  private void order(String id) throws SchedulerException {
    quartz.scheduleJob(job(CancelOrder.class, id), trigger(id).build());
  }

  /** Creates a job for one entity, as many applications do. */
  private static JobDetail job(Class<? extends Job> type, String id) {
    return JobBuilder.newJob(type)
        .withIdentity(JobKey.jobKey(id, "orders"))
        .usingJobData("customer", 7)
        .build();
  }

  private TriggerBuilder<Trigger> trigger(String id) {
    return TriggerBuilder.newTrigger().withIdentity(id, "shop").startAt(Date.from(dueAt));
  }

  private Date later() {
    return Date.from(dueAt.plus(Duration.ofDays(1)));
  }
}
