// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.BatchResult;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.ScheduleResult;
import io.timewheel.durable.TimerInfo;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.DuePosition;
import io.timewheel.durable.spi.record.DueTimer;
import io.timewheel.durable.testkit.DurableTestkit;
import io.timewheel.durable.testkit.FaultyStore;
import io.timewheel.durable.testkit.FaultyStore.Fault;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Reproduces problems from the issue trackers of other timer libraries, with the store on disk and
 * a clock that the test advances. Each test names the issues.
 */
class ComplaintsTest {
  @TempDir Path directory;

  private final DurableTestkit kit = DurableTestkit.create();
  private final List<Firing> fired = new ArrayList<>();
  private Consumer<Firing> handler = firing -> {};
  private TimerStore store;
  private DurableTimer scheduler;

  private void start() {
    start(Stores.open(directory, Log.NONE));
  }

  private void start(TimerStore opened) {
    store = opened;
    scheduler = kit.start(store, builder -> builder.handler("h", this::handle));
  }

  private void handle(Firing firing) {
    fired.add(firing);
    handler.accept(firing);
  }

  /** Simulates a kill: the engine stops working, and nothing is closed. */
  private void killAndStart() {
    kit.kill(scheduler);
    store.close();
    start();
  }

  @AfterEach
  void close() {
    kit.close(scheduler);
  }

  private static TimerSpec spec(String id) {
    return TimerSpec.of("ns", id).handler("h");
  }

  private TimerInfo get(String id) {
    return scheduler.timer("ns", id).get().orElseThrow();
  }

  private List<String> firedIds() {
    return fired.stream().map(Firing::id).toList();
  }

  /**
   * quartz 145, 218, 635: rows stay in a state that nobody changes, and users fix them with SQL.
   */
  @Test
  void nothingIsStuckAfterAKillInTheMiddleOfAnAttempt() {
    start();
    handler =
        firing -> {
          kit.kill(scheduler); // the completion of this attempt is never recorded
        };
    scheduler.schedule(spec("a").after(Duration.ofSeconds(1)));
    kit.advanceBy(Duration.ofSeconds(1));
    handler = firing -> {};
    store.close();
    start();
    assertThat(get("a").state()).isEqualTo(TimerState.COMPLETED);
    assertThat(fired).extracting(Firing::attempt).containsExactly(1, 2);
    assertThat(get("a").attempts())
        .extracting(Attempt::end)
        .containsExactly(Attempt.End.LOST, Attempt.End.SUCCEEDED);
  }

  /** jobrunr 232, 553, 763: the server stops itself after somebody else has changed a record. */
  @Test
  void aConflictStopsNothing() {
    start();
    handler =
        firing -> {
          if (firing.id().equals("a") && fired.size() < 20) {
            scheduler.async().schedule(spec("a").after(Duration.ZERO));
            scheduler.async().timer("ns", "b").cancel();
            scheduler.async().schedule(spec("b").after(Duration.ZERO));
          }
        };
    scheduler.schedule(spec("a").after(Duration.ofSeconds(1)));
    scheduler.schedule(spec("b").after(Duration.ofSeconds(1)));
    scheduler.schedule(spec("c").after(Duration.ofSeconds(2)));
    kit.advanceBy(Duration.ofSeconds(2));
    assertThat(firedIds()).contains("a", "b", "c");
    assertThat(List.of(get("a").state(), get("b").state(), get("c").state()))
        .containsOnly(TimerState.COMPLETED);
  }

  /** db-scheduler 480, 213: a task with too many failures is deleted, and the errors are lost. */
  @Test
  void aFailedTimerIsRetainedWithItsHistoryAcrossARestart() {
    start();
    handler =
        firing -> {
          throw new IllegalStateException("no luck " + firing.attempt());
        };
    scheduler.schedule(
        spec("a")
            .after(Duration.ZERO)
            .retry(new RetryPolicy(3, Duration.ofSeconds(1), Duration.ofSeconds(1))));
    kit.advanceBy(Duration.ofMinutes(1));
    killAndStart();
    assertThat(get("a").state()).isEqualTo(TimerState.FAILED);
    assertThat(get("a").attempts())
        .extracting(Attempt::error)
        .containsExactly(
            "java.lang.IllegalStateException: no luck 1",
            "java.lang.IllegalStateException: no luck 2",
            "java.lang.IllegalStateException: no luck 3");
    handler = firing -> {};
    scheduler.timer("ns", "a").retry();
    kit.settle();
    assertThat(get("a").state()).isEqualTo(TimerState.COMPLETED);
  }

  /** BullMQ 2876, 2889: a repeated upsert, or a restart, creates a second schedule. */
  @Test
  void aRepeatedRequestMakesNoSecondSchedule() {
    start();
    for (int restarts = 0; restarts < 3; restarts++) {
      ScheduleResult result = scheduler.schedule(spec("a").every(Duration.ofSeconds(10)));
      assertThat(result.outcome())
          .isEqualTo(
              restarts == 0 ? ScheduleResult.Outcome.CREATED : ScheduleResult.Outcome.UNCHANGED);
      kit.advanceBy(Duration.ofSeconds(20));
      killAndStart();
    }
    assertThat(fired)
        .extracting(
            firing -> Duration.between(DurableTestkit.START, firing.scheduledAt()).toSeconds())
        .containsExactly(10L, 20L, 30L, 40L, 50L, 60L);
  }

  /** BullMQ 168: delayed work waits until another call wakes it. */
  @Test
  void timersFireWithoutAnotherCallEvenAfterARestart() {
    start();
    scheduler.schedule(spec("soon").after(Duration.ofSeconds(90)));
    scheduler.schedule(spec("far").after(Duration.ofHours(3)));
    killAndStart();
    kit.advanceBy(Duration.ofSeconds(90));
    assertThat(firedIds()).containsExactly("soon");
    kit.advanceBy(Duration.ofHours(3));
    assertThat(firedIds()).containsExactly("soon", "far");
  }

  /** river 785: due jobs become slower with the number of jobs that are scheduled for later. */
  @Test
  void distantTimersAreNotRead() {
    List<DueTimer> read = new ArrayList<>();
    start(
        new ForwardingTimerStore(Stores.open(directory, Log.NONE)) {
          @Override
          public List<DueTimer> due(int shard, long until, DuePosition after, int limit) {
            List<DueTimer> page = super.due(shard, until, after, limit);
            read.addAll(page);
            return page;
          }
        });
    List<TimerSpec> far = new ArrayList<>();
    for (int i = 0; i < 5_000; i++) {
      far.add(spec("far-" + i).after(Duration.ofDays(1 + i % 300)));
    }
    scheduler.scheduleAll(far).forEach(BatchResult::orThrow);
    scheduler.schedule(spec("near").after(Duration.ofMinutes(10)));
    kit.advanceBy(Duration.ofMinutes(10));
    assertThat(firedIds()).containsExactly("near");
    assertThat(read).extracting(DueTimer::key).containsOnly(new TimerKey("ns", "near"));
    assertThat(scheduler.stats().window()).isZero();
  }

  /** river 1059, db-scheduler 327, quartz 112: batches of the same rows wait for each other. */
  @Test
  void batchesOfTheSameTimersInOppositeOrderAllEnd() throws InterruptedException {
    start();
    try (DurableTimer threaded =
        DurableTimer.builder(Stores.open(directory.resolve("threaded"), Log.NONE)).start()) {
      List<BatchResult<ScheduleResult>> results = Collections.synchronizedList(new ArrayList<>());
      List<Thread> callers = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        List<TimerSpec> batch = new ArrayList<>();
        for (int n = 0; n < 300; n++) {
          batch.add(spec("t" + n).after(Duration.ofDays(1)));
        }
        if (i % 2 == 0) {
          Collections.reverse(batch);
        }
        Thread caller = new Thread(() -> results.addAll(threaded.scheduleAll(batch)));
        caller.start();
        callers.add(caller);
      }
      for (Thread caller : callers) {
        caller.join();
      }
      assertThat(results).hasSize(6 * 300).allSatisfy(BatchResult::orThrow);
      assertThat(threaded.counts().get("ns")).containsEntry(TimerState.SCHEDULED, 300L);
    }
  }

  /** river 1077: the client polls a database that became read-only in a tight loop. */
  @Test
  void aStoreThatRefusesIsNotPolledInATightLoopAndNothingIsLost() {
    FaultyStore faulty = new FaultyStore(Stores.open(directory, Log.NONE));
    List<Change> asked = new ArrayList<>();
    start(faulty);
    scheduler.schedule(spec("a").after(Duration.ofSeconds(1)));
    faulty.faults(
        changes -> {
          asked.addAll(changes);
          return Fault.UNAVAILABLE;
        });
    assertThatThrownBy(() -> scheduler.schedule(spec("b").after(Duration.ZERO)))
        .isInstanceOfSatisfying(
            DurableTimerException.class,
            e -> assertThat(e.reason()).isEqualTo(DurableTimerException.Reason.STORE_UNAVAILABLE));
    kit.advanceBy(Duration.ofHours(1));
    assertThat(asked).hasSizeBetween(100, 1_000);
    assertThat(fired).isEmpty();
    faulty.faults(changes -> Fault.NONE);
    kit.advanceBy(Duration.ofSeconds(10));
    assertThat(firedIds()).containsExactly("a");
  }

  /** pulsar 22716, rocketmq 11156: an edit before a restart loses the timer. */
  @Test
  void anEditIsKeptAcrossARestart() {
    start();
    scheduler.schedule(spec("later").after(Duration.ofSeconds(10)));
    scheduler.schedule(spec("sooner").after(Duration.ofDays(300)));
    scheduler.schedule(spec("moved").after(Duration.ofDays(300)));
    scheduler.schedule(spec("later").after(Duration.ofHours(2)));
    scheduler.schedule(spec("sooner").after(Duration.ofSeconds(20)));
    scheduler.timer(new TimerKey("ns", "moved")).move(kit.now().plusSeconds(30));
    killAndStart();
    kit.advanceBy(Duration.ofSeconds(30));
    assertThat(firedIds()).containsExactly("sooner", "moved");
    killAndStart();
    kit.advanceBy(Duration.ofHours(2));
    assertThat(firedIds()).containsExactly("sooner", "moved", "later");
  }

  /** Only the result of a cancel shows whether it was in time. */
  @Test
  void aCancelReturnsWhetherItWasInTimeAlsoAfterARestart() {
    start();
    scheduler.schedule(spec("a").after(Duration.ofSeconds(1)));
    scheduler.schedule(spec("b").after(Duration.ofSeconds(1)));
    assertThat(scheduler.timer("ns", "b").cancel().outcome().name()).isEqualTo("CANCELLED");
    kit.advanceBy(Duration.ofSeconds(1));
    killAndStart();
    assertThat(scheduler.timer("ns", "a").cancel().outcome().name()).isEqualTo("COMPLETED");
    assertThat(scheduler.timer("ns", "b").cancel().outcome().name()).isEqualTo("CANCELLED");
    assertThat(scheduler.timer("ns", "c").cancel().outcome().name()).isEqualTo("NOT_FOUND");
    assertThat(firedIds()).containsExactly("a");
  }
}
