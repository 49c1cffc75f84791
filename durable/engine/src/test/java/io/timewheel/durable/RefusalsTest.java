// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.DuePosition;
import io.timewheel.durable.spi.record.DueTimer;
import io.timewheel.durable.spi.record.TimerDefinition;
import io.timewheel.durable.spi.record.TimerRecord;
import io.timewheel.durable.testkit.DurableTestkit;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Verifies that no timer is lost or stalls if a dependency of the engine throws. */
@Tag("promise-43")
class RefusalsTest extends OnStand {
  private static final Instant START = DurableTestkit.START;
  private static final RetryPolicy ONCE = Scene.ONCE;

  // Handlers

  @Test
  void recordsAFailureWhoseMessageThrows() {
    handler =
        firing -> {
          throw new IllegalStateException() {
            private static final long serialVersionUID = 1;

            @Override
            public String getMessage() {
              throw new IllegalArgumentException("neither can this");
            }
          };
        };
    start();
    scheduler.schedule(spec("a").after(Duration.ZERO).retry(ONCE));
    scheduler.schedule(spec("b").after(Duration.ZERO).retry(ONCE));
    stand.settle();
    assertThat(fired).containsExactly("a", "b");
    assertThat(timer("b").state()).isEqualTo(TimerState.FAILED);
    assertThat(timer("b").attempts().get(0).error()).contains("RefusalsTest");
  }

  @Test
  void truncatesTheReasonOfAHandlerThatGivesUp() {
    handler = firing -> firing.giveUp("no".repeat(100_000));
    start();
    scheduler.schedule(spec("a").after(Duration.ZERO));
    stand.settle();
    assertThat(timer("a").attempts().get(0).error()).hasSize(4_000);
  }

  @Test
  void refusesATimeThatNeverComes() {
    handler = firing -> firing.reschedule(Instant.MAX);
    start();
    scheduler.schedule(spec("a").after(Duration.ZERO).retry(ONCE));
    stand.settle();
    assertThat(timer("a").state()).isEqualTo(TimerState.FAILED);
    assertThat(timer("a").attempts().get(0).error()).contains("at: " + Instant.MAX);
  }

  // Records

  /** Schedules a timer with a form that only a newer release can read. */
  private void scheduleUnreadable(String id, Instant at) {
    store.commit(
        List.of(
            new Change.Schedule(
                new TimerKey("shop", id),
                new TimerDefinition(
                    "at every full moon",
                    "h",
                    false,
                    new byte[0],
                    Map.of(),
                    new RetryPolicy(2, Duration.ofSeconds(1), Duration.ofSeconds(1)),
                    MissedRuns.FIRE_ONCE,
                    0),
                at.toEpochMilli(),
                false,
                Change.Condition.NONE,
                0,
                false,
                null,
                Long.MAX_VALUE,
                START.toEpochMilli())));
  }

  @Test
  void failsATimerWithAnUnreadableRecurrenceWithoutFiringIt() {
    scheduleUnreadable("bad", START.plusSeconds(2));
    start();
    scheduler.schedule(spec("good").after(Duration.ofSeconds(3)));
    advance(10_000);
    assertThat(fired).containsExactly("good");
    assertThat(timer("bad").state()).isEqualTo(TimerState.FAILED);
    assertThat(timer("bad").attempts()).hasSize(2);
    assertThat(timer("bad").attempts().get(0).error()).contains("full moon");
  }

  @Test
  void failsALateTimerWithAnUnreadableRecurrence() {
    scheduleUnreadable("bad", START.minusSeconds(100));
    start();
    advance(10_000);
    assertThat(fired).isEmpty();
    assertThat(timer("bad").state()).isEqualTo(TimerState.FAILED);
  }

  // Queues

  @Test
  void aClaimWhoseWaitIsOverAtOnceIsAnswered() {
    start();
    stand.wheel.whenTaken = () -> stand.manual.advanceBy(Duration.ofMillis(10));
    var claim =
        scheduler
            .async()
            .queue("shop", "q")
            .claim(1, Duration.ofSeconds(30), Duration.ofMillis(1))
            .toCompletableFuture();
    stand.wheel.whenTaken = () -> {};
    advance(2_000);
    assertThat(claim.getNow(null)).isEmpty();
  }

  @Test
  void aClaimIsAnsweredIfTheWheelRefusesItsWait() {
    start();
    stand.wheel.refusal = new RejectedExecutionException("full");
    var claim =
        scheduler
            .async()
            .queue("shop", "q")
            .claim(1, Duration.ofSeconds(30), Duration.ofSeconds(2))
            .toCompletableFuture();
    advance(3_100);
    assertThat(claim.getNow(null)).isEmpty();
  }

  @Test
  void aClaimFailsWithTheExceptionOfTheStore() {
    scheduler =
        stand.start(
            new ForwardingTimerStore(store) {
              @Override
              public List<TimerRecord> lease(
                  List<LeaseRequest> requests,
                  int limit,
                  long nowMillis,
                  Supplier<ClaimToken> tokens) {
                throw new IllegalArgumentException("a record that cannot be read");
              }
            },
            this::settings);
    for (Duration wait : List.of(Duration.ZERO, Duration.ofSeconds(2))) {
      var claim =
          scheduler
              .async()
              .queue("shop", "q")
              .claim(1, Duration.ofSeconds(30), wait)
              .toCompletableFuture();
      stand.settle();
      assertThat(claim).isCompletedExceptionally();
    }
  }

  // Clock

  @Test
  void aFailingClockStops() {
    boolean[] fails = new boolean[1];
    scheduler =
        stand.start(
            store,
            builder -> {
              settings(builder);
              builder.clock(
                  () -> {
                    if (fails[0]) {
                      throw new IllegalStateException("no time");
                    }
                    return stand.now();
                  });
            });
    scheduler.schedule(spec("a").after(Duration.ofSeconds(5)));
    handler = firing -> fails[0] = true;
    scheduler.schedule(spec("b").after(Duration.ZERO));
    stand.settle();
    assertThat(timer("b").state()).isEqualTo(TimerState.COMPLETED);
    advance(10_000);
    assertThat(fired).containsExactly("b");
    fails[0] = false;
    handler = firing -> {};
    advance(2_000);
    assertThat(fired).containsExactly("b", "a");
  }

  // Store

  @Test
  void readsAgainAfterAnErrorInTheMiddle() {
    start();
    scheduler.schedule(spec("a").after(Duration.ofSeconds(5)));
    int[] reads = new int[1];
    stand = new Stand();
    scheduler =
        stand.start(
            new ForwardingTimerStore(store.reopen()) {
              @Override
              public List<DueTimer> due(int shard, long until, DuePosition after, int limit) {
                if (reads[0]++ == 0) {
                  throw new StackOverflowError("so deep");
                }
                return super.due(shard, until, after, limit);
              }
            },
            this::settings);
    advance(6_000);
    assertThat(fired).containsExactly("a");
  }
}
