// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.model.CancelResult;
import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.LeaseResult;
import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.Outcome.Answer;
import io.timewheel.durable.spi.record.TimerRecord;
import io.timewheel.durable.testkit.DurableTestkit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests timers of queues: claims, leases, acks and expiries. */
class QueueTest {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration LONG = Duration.ofSeconds(60);

  private final Scene scene = new Scene();
  private final InMemoryTimerStore below = InMemoryTimerStore.create();
  private QueueFiring leased;
  private DurableTimer acting;

  private static TimerSpec spec(String id) {
    return TimerSpec.of("shop", id).queue("q");
  }

  private void makeReady(String id) {
    scene.scheduler.schedule(spec(id).after(Duration.ZERO));
    scene.kit.settle();
  }

  private CompletableFuture<List<QueueFiring>> begin(int max, Duration wait) {
    return begin(scene.scheduler, max, wait);
  }

  private static CompletableFuture<List<QueueFiring>> begin(
      DurableTimer scheduler, int max, Duration wait) {
    return scheduler.async().queue("shop", "q").claim(max, LEASE, wait).toCompletableFuture();
  }

  private List<QueueFiring> claim(Duration wait) {
    var claim = begin(10, wait);
    scene.kit.advanceBy(wait);
    scene.kit.settle();
    return claim.join();
  }

  private CompletableFuture<LeaseResult> ack(DurableTimer scheduler, QueueFiring firing) {
    return scheduler
        .async()
        .changeLease(LeaseChange.ack(firing.firing().fireId(), firing.leaseToken()))
        .toCompletableFuture();
  }

  private LeaseResult ack(QueueFiring firing) {
    var ack = ack(scene.scheduler, firing);
    scene.kit.settle();
    return ack.join();
  }

  @Test
  void handsDueTimersToConsumers() {
    scene.scheduler.schedule(spec("a").after(Duration.ofSeconds(5)));
    assertThat(claim(Duration.ofSeconds(4))).isEmpty();
    List<QueueFiring> claimed = claim(Duration.ofSeconds(4));
    assertThat(claimed).hasSize(1);
    assertThat(claimed.get(0).firing().firedAt()).isEqualTo(DurableTestkit.START.plusSeconds(5));
    scene.restart();
    assertThat(ack(claimed.get(0))).isEqualTo(LeaseResult.DONE);
    assertThat(ack(claimed.get(0))).isEqualTo(LeaseResult.DONE);
    assertThat(scene.state("a")).isEqualTo(TimerState.COMPLETED);
  }

  // Leases that end

  @Test
  void endsAnExpiredLease() {
    makeReady("a");
    QueueFiring first = claim(Duration.ZERO).get(0);
    scene.advance(31_000);
    assertThat(ack(first)).isEqualTo(LeaseResult.LOST);
    scene.advance(1_000);
    QueueFiring second = claim(Duration.ZERO).get(0);
    assertThat(second.firing().attempt()).isEqualTo(2);
    assertThat(second.firing().fireId()).isEqualTo(first.firing().fireId());
    assertThat(ack(second)).isEqualTo(LeaseResult.DONE);
  }

  @Test
  void anExtensionNeverShortensALease() {
    makeReady("a");
    QueueFiring held = claim(Duration.ZERO).get(0);
    var extended =
        scene
            .scheduler
            .async()
            .changeLease(
                LeaseChange.extend(
                    held.firing().fireId(), held.leaseToken(), Duration.ofSeconds(1)));
    scene.kit.settle();
    assertThat(extended.toCompletableFuture().join()).isEqualTo(LeaseResult.DONE);
    scene.advance(29_000);
    assertThat(ack(held)).isEqualTo(LeaseResult.DONE);
  }

  @Test
  void aRepeatedAckIsDoneEvenIfACancelCameTooLate() {
    TimerSpec once = spec("a").at(DurableTestkit.START);
    scene.scheduler.schedule(once);
    scene.kit.settle();
    QueueFiring held = claim(Duration.ZERO).get(0);
    assertThat(scene.scheduler.timer("shop", "a").cancel().outcome())
        .isEqualTo(CancelResult.Outcome.RUNNING);
    assertThat(ack(held)).isEqualTo(LeaseResult.DONE);
    assertThat(scene.scheduler.schedule(once.evenIfFinished()).outcome())
        .isEqualTo(ScheduleResult.Outcome.UNCHANGED);
  }

  /**
   * With threads, because a consumer may be faster than the answer to the owner that made its run
   * ready.
   */
  @Test
  @Timeout(120)
  void endsALeaseThatBeganBeforeItsOwnerGotItsAnswer() {
    CompletableFuture<QueueFiring> first = new CompletableFuture<>();
    ForwardingTimerStore store =
        new ForwardingTimerStore(below) {
          @Override
          public List<Outcome> commit(List<Change> changes) {
            List<Outcome> outcomes = super.commit(changes);
            if (changes.get(0) instanceof Change.MakeReady && !first.isDone()) {
              first.complete(leaseOne(acting, Duration.ZERO));
            }
            return outcomes;
          }
        };
    try (DurableTimer scheduler = DurableTimer.builder(store).start()) {
      acting = scheduler;
      scheduler.schedule(spec("a").after(Duration.ZERO));

      assertThat(first.join().firing().attempt()).isEqualTo(1);
      assertThat(leaseOne(scheduler, LONG).firing().attempt()).isEqualTo(2);
    }
  }

  private static QueueFiring leaseOne(DurableTimer scheduler, Duration wait) {
    var claim = scheduler.async().queue("shop", "q").claim(1, Duration.ofSeconds(1), wait);
    return claim.toCompletableFuture().join().get(0);
  }

  /**
   * Lets a lease expire, and runs code after its owner has read the record and before it ends the
   * lease.
   */
  private DurableTimer endLease(Consumer<TimerRecord> meanwhile) {
    boolean[] over = new boolean[1];
    DurableTimer scheduler =
        scene.kit.start(
            new ForwardingTimerStore(below) {
              @Override
              public TimerRecord get(TimerKey key) {
                TimerRecord record = super.get(key);
                if (over[0]) {
                  over[0] = false;
                  meanwhile.accept(record);
                }
                return record;
              }
            },
            builder -> {});
    scheduler.schedule(spec("a").after(Duration.ZERO));
    scene.kit.settle();
    var claim = begin(scheduler, 1, Duration.ZERO);
    scene.kit.settle();
    leased = claim.join().get(0);
    acting = scheduler;
    over[0] = true;
    scene.advance(31_000);
    assertThat(over[0]).isFalse();
    return scheduler;
  }

  @Test
  void anAckThatIsRecordedBeforeItsLeaseExpiresIsDone() {
    List<Answer> answers = new ArrayList<>();
    DurableTimer scheduler =
        endLease(
            record -> {
              long nowMillis = scene.kit.now().toEpochMilli();
              Change.Finish ack =
                  new Change.Finish(
                      record.key(),
                      record.claim().token(),
                      0,
                      Change.Finish.End.SUCCEEDED,
                      TimerRecord.NEVER,
                      null,
                      nowMillis);
              below.commit(List.of(ack)).forEach(outcome -> answers.add(outcome.answer()));
            });
    assertThat(answers).containsExactly(Answer.APPLIED);
    assertThat(scheduler.timer("shop", "a").get().orElseThrow().state())
        .isEqualTo(TimerState.COMPLETED);
    assertThat(scheduler.timer("shop", "a").get().orElseThrow().attempts())
        .extracting(Attempt::end)
        .containsExactly(Attempt.End.SUCCEEDED);
  }

  @Test
  void anAckDuringTheEndOfItsExpiredLeaseIsLost() {
    List<CompletableFuture<LeaseResult>> acks = new ArrayList<>();
    DurableTimer scheduler = endLease(record -> acks.add(ack(acting, leased)));
    assertThat(acks.get(0).getNow(null)).isEqualTo(LeaseResult.LOST);
    assertThat(scheduler.timer("shop", "a").get().orElseThrow().attempts())
        .extracting(Attempt::end)
        .containsExactly(Attempt.End.LOST);
    scene.advance(1_000);
    assertThat(scheduler.timer("shop", "a").get().orElseThrow().state())
        .isEqualTo(TimerState.READY);
  }

  // Missed runs

  private static TimerSpec every(String id, Duration period, MissedRuns missed) {
    return spec(id).every(period).missed(missed);
  }

  private static String run(QueueFiring queued) {
    Firing firing = queued.firing();
    long millis = Duration.between(DurableTestkit.START, firing.scheduledAt()).toMillis();
    return firing.id() + "@" + millis + (firing.isCatchUp() ? " made up" : "");
  }

  /** Claims and acks all ready timers repeatedly. */
  private List<String> consume() {
    List<String> runs = new ArrayList<>();
    for (List<QueueFiring> some = claim(Duration.ZERO); !some.isEmpty(); ) {
      some.forEach(this::ack);
      some.stream().map(QueueTest::run).forEach(runs::add);
      some = claim(Duration.ZERO);
    }
    return runs;
  }

  @Test
  void appliesTheRuleForMissedRuns() {
    Duration period = Duration.ofMinutes(10);
    scene.scheduler.schedule(every("once", period, MissedRuns.FIRE_ONCE));
    scene.scheduler.schedule(every("all", period, MissedRuns.FIRE_ALL));
    scene.scheduler.schedule(every("skip", period, MissedRuns.SKIP));
    scene.kill();
    scene.advance(35 * 60_000);
    scene.reopen();
    scene.kit.settle();
    assertThat(consume())
        .containsExactlyInAnyOrder(
            "once@1800000 made up",
            "all@600000 made up",
            "all@1200000 made up",
            "all@1800000 made up");
    assertThat(scene.scheduler.stats().skipped()).isEqualTo(2 + 3);
    scene.advance(5 * 60_000);
    assertThat(consume()).containsExactlyInAnyOrder("once@2400000", "all@2400000", "skip@2400000");
  }

  @Test
  void aCatchUpRunIsTheSameAfterItsLeaseExpired() {
    scene.scheduler.schedule(every("a", Duration.ofHours(1), MissedRuns.FIRE_ONCE));
    scene.kill();
    scene.advance(215 * 60_000);
    scene.reopen();
    scene.kit.settle();
    QueueFiring first = claim(Duration.ZERO).get(0);
    scene.advance(32_000);
    QueueFiring second = claim(Duration.ZERO).get(0);
    assertThat(second.firing().attempt()).isEqualTo(2);
    assertThat(second.firing().fireId()).isEqualTo(first.firing().fireId());
    assertThat(run(second)).isEqualTo(run(first)).isEqualTo("a@10800000 made up");
    assertThat(ack(second)).isEqualTo(LeaseResult.DONE);
    assertThat(claim(Duration.ZERO)).isEmpty();
  }

  // Consumers that wait

  @Test
  void aCancelledClaimStopsWaiting() {
    var cancelled = begin(10, LONG);
    var other = begin(10, LONG);
    scene.kit.settle();
    cancelled.cancel(false);
    makeReady("a");
    assertThat(other.join()).hasSize(1);
    assertThat(other.join().get(0).firing().attempt()).isEqualTo(1);
    assertThat(scene.scheduler.stats().fired()).isEqualTo(1);
  }

  @Test
  void timersLeasedForACancelledClaimAreGivenBackUncounted() {
    List<CompletableFuture<?>> claims = new ArrayList<>();
    InMemoryTimerStore data = InMemoryTimerStore.create();
    DurableTimer scheduler =
        scene.kit.start(
            new ForwardingTimerStore(data) {
              @Override
              public List<TimerRecord> lease(
                  List<LeaseRequest> requests,
                  int limit,
                  long nowMillis,
                  Supplier<ClaimToken> tokens) {
                List<TimerRecord> leased = super.lease(requests, limit, nowMillis, tokens);
                if (!leased.isEmpty() && !claims.isEmpty()) {
                  claims.remove(0).cancel(false); // between the lease and its answer
                }
                return leased;
              }
            },
            builder -> {});
    claims.add(begin(scheduler, 10, LONG));
    scene.kit.settle();
    scheduler.schedule(spec("a").after(Duration.ZERO));
    scene.kit.settle();
    assertThat(scheduler.timer("shop", "a").get().orElseThrow().state())
        .isEqualTo(TimerState.READY);
    assertThat(scheduler.stats().fired()).isZero();

    var next = begin(scheduler, 10, Duration.ZERO);
    scene.kit.settle();
    assertThat(next.join()).hasSize(1);
    assertThat(next.join().get(0).firing().attempt()).isEqualTo(1);
    assertThat(scheduler.timer("shop", "a").get().orElseThrow().attempts())
        .extracting(Attempt::end)
        .containsExactly(Attempt.End.GIVEN_BACK);
  }

  @Test
  void timersForADisconnectedConsumerAreGivenBack() {
    makeReady("a");
    var claim = begin(10, LONG);
    for (int steps = 0; scene.state("a") != TimerState.RUNNING; steps++) {
      assertThat(steps).isLessThan(10);
      scene.kit.step(scene.scheduler);
    }
    claim.cancel(false); // leased, and not answered yet
    scene.kit.settle();
    assertThat(scene.state("a")).isEqualTo(TimerState.READY);
    assertThat(scene.scheduler.stats().fired()).isZero();
  }

  @Test
  void manyConsumersGetOneTimerEachInOrderOfArrival() {
    int many = 10_000;
    List<CompletableFuture<List<QueueFiring>>> claims = new ArrayList<>();
    for (int i = 0; i < many; i++) {
      claims.add(begin(1, Duration.ofSeconds(20)));
    }
    scene.kit.settle();
    assertThat(claims).noneMatch(CompletableFuture::isDone);
    Set<String> claimed = new HashSet<>();
    List<TimerSpec> specs = new ArrayList<>();
    for (int i = 0; i < many / 2; i++) {
      specs.add(spec("t" + i).after(Duration.ofSeconds(1)));
    }
    scene.scheduler.scheduleAll(specs);
    scene.advance(2_000);
    for (int i = 0; i < many / 2; i++) {
      assertThat(claims.get(i)).isDone();
      claimed.add(claims.get(i).join().get(0).firing().id());
    }
    assertThat(claimed).hasSize(many / 2);
    assertThat(claims.subList(many / 2, many)).noneMatch(CompletableFuture::isDone);
    scene.advance(20_000);
    assertThat(claims.subList(many / 2, many))
        .allSatisfy(claim -> assertThat(claim.getNow(null)).isEmpty());
  }

  @Test
  void waitingConsumersShareACallOfTheStore() {
    AtomicInteger calls = new AtomicInteger();
    DurableTimer scheduler =
        scene.kit.start(
            new ForwardingTimerStore(below) {
              @Override
              public List<TimerRecord> lease(
                  List<LeaseRequest> requests,
                  int limit,
                  long nowMillis,
                  Supplier<ClaimToken> tokens) {
                List<TimerRecord> leased = super.lease(requests, limit, nowMillis, tokens);
                calls.addAndGet(leased.isEmpty() ? 0 : 1);
                return leased;
              }
            },
            builder -> {});
    List<CompletableFuture<List<QueueFiring>>> claims = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      claims.add(begin(scheduler, 1, LONG));
    }
    scene.kit.settle();
    List<TimerSpec> specs = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      specs.add(spec("t" + i).after(Duration.ofSeconds(1)));
    }
    scheduler.scheduleAll(specs);
    scene.advance(2_000);
    assertThat(claims).allSatisfy(claim -> assertThat(claim.getNow(List.of())).hasSize(1));
    assertThat(calls.get()).isLessThan(100);
  }

  @Test
  void waitingConsumersGetTheNumberThatTheyRequested() {
    List<Duration> leases = List.of(LEASE, LEASE, LONG, LEASE, LEASE);
    List<CompletableFuture<List<QueueFiring>>> claims = new ArrayList<>();
    for (Duration lease : leases) {
      claims.add(
          scene.scheduler.async().queue("shop", "q").claim(3, lease, LONG).toCompletableFuture());
    }
    scene.kit.settle();
    List<TimerSpec> specs = new ArrayList<>();
    for (int i = 0; i < 11; i++) {
      specs.add(spec("t" + i).after(Duration.ofSeconds(1)));
    }
    scene.scheduler.scheduleAll(specs);
    scene.advance(2_000);
    assertThat(claims.subList(0, 4)).allMatch(CompletableFuture::isDone);
    Set<String> ids = new HashSet<>();
    for (int i = 0; i < 4; i++) {
      List<QueueFiring> firings = claims.get(i).join();
      assertThat(firings).hasSize(i == 3 ? 2 : 3);
      for (QueueFiring firing : firings) {
        assertThat(ids.add(firing.firing().id())).isTrue();
        assertThat(Duration.between(firing.firing().firedAt(), firing.leasedUntil()))
            .isEqualTo(leases.get(i));
      }
    }
    assertThat(claims.get(4)).isNotDone();
  }

  @Test
  void aCloseAnswersManyWaitingConsumers() {
    List<CompletableFuture<List<QueueFiring>>> claims = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      claims.add(begin(1, LONG));
    }
    scene.scheduler.close();
    scene.kit.settle();
    assertThat(claims).allSatisfy(claim -> assertThat(claim.getNow(null)).isEmpty());
  }
}
