// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static io.timewheel.durable.Scene.spec;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.Handler;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.model.VerbResult;
import io.timewheel.durable.testkit.FaultyStore;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Verifies failing attempts and a failing store: retries, failed timers, and the errors of callers.
 */
@Tag("promise-43")
class FailuresTest {
  private static final Handler FAILS =
      firing -> {
        throw new IllegalStateException("no luck");
      };

  private final Scene scene = new Scene();

  // Failures

  @Test
  void retriesWithBackoffThenFailsTheTimer() {
    scene.handler = FAILS;
    scene.scheduler.schedule(
        spec("a")
            .after(Duration.ZERO)
            .retry(new RetryPolicy(3, Duration.ofSeconds(1), Duration.ofSeconds(10))));
    scene.advance(60_000);
    assertThat(scene.fired).containsExactly("a@0", "a@1000", "a@3000");
    assertThat(scene.state("a")).isEqualTo(TimerState.FAILED);
    assertThat(scene.scheduler.timer("shop", "a").get().orElseThrow().attempts()).hasSize(3);
    assertThat(scene.scheduler.timer("shop", "a").get().orElseThrow().lastError())
        .hasValueSatisfying(error -> assertThat(error).contains("no luck"));
    scene.handler = firing -> {};
    assertThat(scene.scheduler.timer("shop", "a").retry()).isEqualTo(VerbResult.DONE);
    scene.kit.settle();
    assertThat(scene.state("a")).isEqualTo(TimerState.COMPLETED);
    assertThat(scene.firings.get(3).attempt()).isEqualTo(1);
    assertThat(scene.firings.get(3).fireId()).isEqualTo(scene.firings.get(0).fireId());
  }

  @Test
  void shortensErrorsSoThatARecordStaysSmall() {
    String start = "java.lang.IllegalStateException: ";
    String error = "x".repeat(199 - start.length()) + "\uD83D\uDE00" + "y".repeat(4_000);
    scene.handler =
        firing -> {
          throw new IllegalStateException(error);
        };
    scene.scheduler.schedule(
        spec("a")
            .after(Duration.ZERO)
            .retry(new RetryPolicy(3, Duration.ofSeconds(1), Duration.ofSeconds(10))));
    scene.advance(60_000);
    String latest = (start + error).substring(0, 4_000);
    String earlier = latest.substring(0, 199); // a pair of surrogates is not separated
    assertThat(scene.scheduler.timer("shop", "a").get().orElseThrow().attempts())
        .extracting(Attempt::error)
        .containsExactly(earlier, earlier, latest);
  }

  @Test
  void retriesARunByHandAsThatRun() {
    scene.handler = FAILS;
    scene.scheduler.schedule(
        spec("a")
            .after(Duration.ofHours(1))
            .retry(new RetryPolicy(1, Duration.ofSeconds(1), Duration.ofSeconds(1))));
    scene.scheduler.timer("shop", "a").runNow();
    scene.kit.settle();
    assertThat(scene.state("a")).isEqualTo(TimerState.FAILED);
    scene.advance(1_000);
    scene.handler = firing -> {};
    scene.scheduler.timer("shop", "a").retry();
    scene.kit.settle();
    assertThat(scene.fired).hasSize(2);
    assertThat(scene.firings.get(1).fireId()).isEqualTo(scene.firings.get(0).fireId());
  }

  @Test
  @Tag("promise-39")
  void failsATimerThatKillsItsProcess() {
    scene.scheduler.schedule(
        spec("poison")
            .after(Duration.ofSeconds(1))
            .retry(new RetryPolicy(2, Duration.ofSeconds(1), Duration.ofSeconds(1))));
    dieAtTheNextFiring();
    dieAtTheNextFiring();
    scene.restart();
    assertThat(scene.fired).hasSize(2); // the attempts that were lost in the crash
    assertThat(scene.state("poison")).isEqualTo(TimerState.FAILED);
    assertThat(scene.scheduler.timer("shop", "poison").get().orElseThrow().attempts())
        .extracting(attempt -> attempt.end().name())
        .containsExactly("LOST", "LOST", "FAILED");
    assertThat(scene.scheduler.stats().exhausted()).isEqualTo(1);
  }

  /** Makes the store unreachable as soon as the handler is called. */
  private void dieAtTheNextFiring() {
    boolean[] dead = new boolean[1];
    scene.handler =
        firing -> {
          dead[0] = true;
          scene.store.faults(changes -> FaultyStore.Fault.UNAVAILABLE);
        };
    scene.restart();
    scene.advance(1_000);
    assertThat(dead[0]).isTrue();
  }

  @Test
  void letsAHandlerDecide() {
    scene.handler =
        firing -> {
          if (firing.id().equals("gives-up")) {
            firing.giveUp("gone");
          } else if (scene.fired.size() == 1) {
            firing.reschedule(scene.kit.now().plusSeconds(7));
          }
        };
    scene.scheduler.schedule(spec("later").after(Duration.ZERO));
    scene.advance(8_000);
    assertThat(scene.fired).containsExactly("later@0", "later@7000");
    assertThat(scene.state("later")).isEqualTo(TimerState.COMPLETED);
    scene.scheduler.schedule(spec("gives-up").after(Duration.ZERO));
    scene.kit.settle();
    assertThat(scene.state("gives-up")).isEqualTo(TimerState.FAILED);
    assertThat(scene.scheduler.timer("shop", "gives-up").get().orElseThrow().lastError())
        .hasValue("gone");
  }

  @Test
  void retriesNotBeforeTheTimeThatAHandlerSets() {
    scene.handler =
        firing -> {
          Instant at = scene.kit.now().plusSeconds(firing.attempt() == 1 ? 300 : -300);
          firing.retryNotBefore(at);
          FAILS.handle(firing);
        };
    RetryPolicy retry = new RetryPolicy(3, Duration.ofSeconds(1), Duration.ofSeconds(10));
    scene.scheduler.schedule(spec("a").after(Duration.ZERO).retry(retry));
    scene.advance(400_000);
    assertThat(scene.fired).containsExactly("a@0", "a@300000", "a@302000");
    assertThat(scene.state("a")).isEqualTo(TimerState.FAILED);
  }

  @Test
  void anAttemptThatItsHandlerGivesBackIsNotCounted() {
    scene.handler =
        firing -> {
          if (scene.fired.size() < 4) {
            firing.giveBack(scene.kit.now().plusSeconds(5));
            FAILS.handle(firing);
          }
        };
    scene.scheduler.schedule(spec("a").after(Duration.ZERO).retry(Scene.ONCE));
    scene.advance(20_000);
    assertThat(scene.fired).containsExactly("a@0", "a@5000", "a@10000", "a@15000");
    assertThat(scene.firings).allMatch(firing -> firing.attempt() == 1);
    assertThat(scene.state("a")).isEqualTo(TimerState.COMPLETED);
    assertThat(scene.scheduler.stats().failed()).isZero();
  }

  @Test
  void limitsTheRetryTimeOfAHandlerToAYear() {
    scene.handler =
        firing -> {
          firing.retryNotBefore(Instant.MAX);
          FAILS.handle(firing);
        };
    scene.scheduler.schedule(spec("a").after(Duration.ZERO));
    scene.kit.settle();
    assertThat(scene.info("a").fireAt()).hasValue(scene.kit.now().plus(Duration.ofDays(365)));
  }

  @Test
  void aRetryTimeHasNoEffectOnASuccess() {
    scene.handler = firing -> firing.retryNotBefore(scene.kit.now().plusSeconds(300));
    scene.scheduler.schedule(spec("a").every(Duration.ofSeconds(1)));
    scene.advance(2_000);
    assertThat(scene.fired).containsExactly("a@1000", "a@2000");
  }

  @Test
  void blocksATimerUntilANodeHasItsHandler() {
    scene.scheduler.schedule(TimerSpec.of("shop", "a").handler("new").after(Duration.ofSeconds(1)));
    scene.advance(2_000);
    assertThat(scene.state("a")).isEqualTo(TimerState.BLOCKED);
    scene.kill();
    List<String> fired = new ArrayList<>();
    scene.kit.start(
        scene.data.reopen(), builder -> builder.handler("new", firing -> fired.add(firing.id())));
    assertThat(fired).containsExactly("a");
  }

  // Faults

  @Test
  void repeatsEndsOfAttemptsWhoseAnswerWasLost() {
    scene.scheduler.schedule(spec("a").after(Duration.ofSeconds(1)));
    int[] faults = new int[1];
    scene.store.faults(
        changes ->
            faults[0]++ % 3 == 2 ? FaultyStore.Fault.NONE : FaultyStore.Fault.DONE_BUT_FAILED);
    scene.advance(60_000);
    assertThat(scene.fired).hasSize(1);
    assertThat(scene.state("a")).isEqualTo(TimerState.COMPLETED);
  }

  @Test
  @Tag("promise-42")
  void firesATimerWhoseAnswerWasLost() {
    scene.store.faults(changes -> FaultyStore.Fault.DONE_BUT_FAILED);
    assertThatThrownBy(() -> scene.scheduler.schedule(spec("a").after(Duration.ofSeconds(1))))
        .isInstanceOfSatisfying(
            DurableTimerException.class,
            e -> assertThat(e.reason()).isEqualTo(DurableTimerException.Reason.UNKNOWN));
    scene.store.faults(changes -> FaultyStore.Fault.NONE);
    scene.advance(5_000);
    assertThat(scene.fired).containsExactly("a@1000");
  }

  @Test
  @Tag("promise-42")
  void staysUnknownWhenALaterTryIsRefused() {
    int[] tries = new int[1];
    scene.store.faults(
        changes ->
            tries[0]++ == 0 ? FaultyStore.Fault.DONE_BUT_FAILED : FaultyStore.Fault.UNAVAILABLE);
    var result =
        scene
            .scheduler
            .async()
            .schedule(spec("a").after(Duration.ofHours(1)).requestId("r"))
            .toCompletableFuture();
    scene.advance(1_000);
    assertThat(tries[0]).isGreaterThan(1);
    assertThatThrownBy(result::join)
        .cause()
        .isInstanceOfSatisfying(
            DurableTimerException.class,
            e -> assertThat(e.reason()).isEqualTo(DurableTimerException.Reason.UNKNOWN));
    assertThat(scene.state("a")).isEqualTo(TimerState.SCHEDULED);
  }

  @Test
  void oneRejectedChangeStopsNoOthers() {
    scene.scheduler.schedule(spec("bad").after(Duration.ofSeconds(1)));
    scene.scheduler.schedule(spec("good").after(Duration.ofSeconds(1)));
    scene.store.faults(
        changes ->
            changes.stream().anyMatch(change -> change.key().id().equals("bad"))
                ? FaultyStore.Fault.REJECTED
                : FaultyStore.Fault.NONE);
    scene.advance(5_000);
    assertThat(scene.fired).containsExactly("good@1000");
  }

  @Test
  void refusesCallersWhileTheStoreIsUnavailableAndContinuesAfterwards() {
    scene.scheduler.schedule(spec("a").after(Duration.ofSeconds(1)));
    scene.store.faults(changes -> FaultyStore.Fault.UNAVAILABLE);
    scene.advance(10_000);
    assertThat(scene.fired).isEmpty();
    assertThatThrownBy(() -> scene.scheduler.schedule(spec("b").after(Duration.ZERO)))
        .isInstanceOfSatisfying(
            DurableTimerException.class,
            e -> assertThat(e.reason()).isEqualTo(DurableTimerException.Reason.STORE_UNAVAILABLE));
    scene.store.faults(changes -> FaultyStore.Fault.NONE);
    scene.advance(10_000);
    assertThat(scene.fired).hasSize(1);
  }
}
