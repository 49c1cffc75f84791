// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static io.timewheel.durable.Scene.spec;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.model.CancelResult;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.model.VerbResult;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.testkit.DurableTestkit;
import io.timewheel.durable.testkit.ManualExecutor;
import io.timewheel.testkit.ManualTimer;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests a durable timer through its public API, on a clock that the test advances. */
class DurableTimerTest {
  private static final Instant START = DurableTestkit.START;

  private final List<String> fired = new ArrayList<>();
  private final Scene scene = new Scene();

  // Start

  @Test
  void firesNoTimerBeforeTheStartAndThenForAllAddedHandlers() {
    ManualTimer wheel = ManualTimer.create();
    ManualExecutor steps = new ManualExecutor();
    DurableTimerBuilder builder =
        DurableTimer.builder(InMemoryTimerStore.create())
            .timer(wheel)
            .clock(() -> START.plus(wheel.elapsed()))
            .storeExecutor(steps)
            .handlerExecutor(steps);
    DurableTimer unstarted = builder.build();
    unstarted.schedule(spec("a").after(Duration.ofSeconds(1)));
    run(wheel, steps);
    assertThat(scene.fired).isEmpty();
    assertThat(unstarted.timer("shop", "a").get().orElseThrow().state())
        .isEqualTo(TimerState.SCHEDULED);

    builder.handler("h", firing -> scene.fired.add(firing.id()));
    unstarted.start();
    unstarted.start(); // has no effect
    run(wheel, steps);
    assertThat(scene.fired).containsExactly("a");
    unstarted.close();
    assertThatThrownBy(unstarted::start).hasMessage("the durable timer is closed");
  }

  private static void run(ManualTimer wheel, ManualExecutor steps) {
    wheel.advanceBy(Duration.ofSeconds(2));
    while (steps.runOne() || wheel.poll() > 0) {
      // Until no work is left at this time.
    }
  }

  @Test
  void closesWithoutAStart() {
    DurableTimer unstarted = DurableTimer.builder(InMemoryTimerStore.create()).build();
    unstarted.schedule(spec("a").after(Duration.ofDays(1)));
    unstarted.close();
    assertThatThrownBy(() -> unstarted.schedule(spec("b").after(Duration.ofDays(1))))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void closesItsStoreIfItCannotBeBuilt() {
    boolean[] closed = new boolean[1];
    ForwardingTimerStore below =
        new ForwardingTimerStore(InMemoryTimerStore.create()) {
          @Override
          public void close() {
            closed[0] = true;
            super.close();
          }
        };
    DurableTimerBuilder builder =
        DurableTimer.builder(below).handler("h", String.class, (firing, payload) -> {});
    assertThatThrownBy(builder::start).hasMessageContaining("no codec");
    assertThat(closed[0]).isTrue();
  }

  // Once

  @Test
  void firesAtItsTimeAndNotBefore() {
    ScheduleResult result = scene.scheduler.schedule(spec("a").after(Duration.ofMinutes(30)));
    assertThat(result.outcome()).isEqualTo(ScheduleResult.Outcome.CREATED);
    scene.advance(30 * 60_000 - 1);
    assertThat(scene.fired).isEmpty();
    scene.advance(1);
    assertThat(scene.fired).containsExactly("a@1800000");
    assertThat(scene.state("a")).isEqualTo(TimerState.COMPLETED);
    assertThat(scene.scheduler.timer("shop", "a").cancel().outcome())
        .isEqualTo(CancelResult.Outcome.COMPLETED);
    assertThat(scene.scheduler.stats().window()).isZero();
  }

  @Test
  void firesForAHandlerWithoutALimit() {
    Scene other =
        new Scene(
            builder ->
                builder.handler(
                    "unlimited", firing -> fired.add(firing.id()), Integer.MAX_VALUE, null));
    other.scheduler.schedule(
        TimerSpec.of("shop", "a").handler("unlimited").after(Duration.ofSeconds(1)));
    other.advance(1_000);
    assertThat(fired).containsExactly("a");
  }

  @Test
  void survivesAKillAndFiresOnce() {
    scene.scheduler.schedule(spec("a").after(Duration.ofHours(5)));
    scene.restart();
    scene.advance(4 * 3_600_000);
    scene.restart();
    scene.advance(4 * 3_600_000);
    assertThat(scene.fired).containsExactly("a@18000000");
    scene.restart();
    scene.advance(86_400_000);
    assertThat(scene.fired).hasSize(1);
  }

  @Test
  void firesTimersThatBecameDueWhileNoNodeRan() {
    scene.scheduler.schedule(spec("a").after(Duration.ofSeconds(5)));
    scene.kill();
    scene.advance(60_000);
    scene.reopen();
    assertThat(scene.fired).containsExactly("a@60000");
    assertThat(scene.firings.get(0).isLate()).isTrue();
    assertThat(scene.firings.get(0).scheduledAt()).isEqualTo(START.plusSeconds(5));
  }

  @Test
  void firesATimerWithAPastTimeAtOnce() {
    scene.scheduler.schedule(spec("a").at(START.minusSeconds(100)));
    scene.kit.settle();
    assertThat(scene.fired).containsExactly("a@0");
  }

  @Test
  void postponesByScheduling() {
    scene.scheduler.schedule(spec("a").after(Duration.ofSeconds(5)));
    scene.advance(3_000);
    assertThat(scene.scheduler.schedule(spec("a").after(Duration.ofSeconds(5))).outcome())
        .isEqualTo(ScheduleResult.Outcome.REPLACED);
    scene.advance(10_000);
    assertThat(scene.fired).containsExactly("a@8000");
  }

  @Test
  void aCancelledTimerNeverFires() {
    scene.scheduler.schedule(spec("a").after(Duration.ofSeconds(5)));
    assertThat(scene.scheduler.timer("shop", "a").cancel().outcome())
        .isEqualTo(CancelResult.Outcome.CANCELLED);
    scene.restart();
    scene.advance(10_000);
    assertThat(scene.fired).isEmpty();
    assertThat(scene.scheduler.timer("shop", "a").cancel().outcome())
        .isEqualTo(CancelResult.Outcome.CANCELLED);
    assertThat(scene.scheduler.timer("shop", "b").cancel().outcome())
        .isEqualTo(CancelResult.Outcome.NOT_FOUND);
  }

  @Test
  void refusesTheVersionOfAnAbsentTimer() {
    assertThatThrownBy(() -> scene.scheduler.schedule(spec("a").at(START).onlyIfVersion(7)))
        .hasMessage("shop/a is absent");
  }

  @Test
  void refusesAScheduleWhoseConditionIsNotMet() {
    long version = scene.scheduler.schedule(spec("a").at(START.plusSeconds(5))).version();
    assertThatThrownBy(() -> scene.scheduler.schedule(spec("a").at(START).onlyIfAbsent()))
        .isInstanceOfSatisfying(
            DurableTimerException.class,
            e -> {
              assertThat(e.reason()).isEqualTo(DurableTimerException.Reason.EXISTS);
              assertThat(e.version()).isEqualTo(version);
            });
    assertThatThrownBy(
            () -> scene.scheduler.schedule(spec("a").at(START).onlyIfVersion(version + 1)))
        .hasMessageContaining("has version " + version);
    assertThat(scene.scheduler.schedule(spec("a").at(START.plusSeconds(5))).outcome())
        .isEqualTo(ScheduleResult.Outcome.UNCHANGED);
  }

  @Test
  void doesNotFireAgainForACallerThatLostTheRaceAgainstTheFiring() {
    long version = scene.scheduler.schedule(spec("a").at(START.plusSeconds(5))).version();
    scene.advance(5_000);
    TimerSpec later = spec("a").after(Duration.ofHours(1)).onlyIfVersion(version);
    assertThatThrownBy(() -> scene.scheduler.schedule(later))
        .isInstanceOfSatisfying(
            DurableTimerException.class,
            e -> assertThat(e.reason()).isEqualTo(DurableTimerException.Reason.FINISHED))
        .hasMessageContaining("shop/a has fired");
    assertThat(scene.state("a")).isEqualTo(TimerState.COMPLETED);
    assertThat(scene.scheduler.schedule(later.evenIfFinished()).outcome())
        .isEqualTo(ScheduleResult.Outcome.CREATED);
  }

  @Test
  void countsAFinishedTimerAsPresentIfRequested() {
    scene.scheduler.schedule(spec("a").at(START.plusSeconds(5)));
    scene.advance(6_000);
    assertThat(
            scene.scheduler.schedule(spec("a").at(START.plusSeconds(5)).evenIfFinished()).outcome())
        .isEqualTo(ScheduleResult.Outcome.UNCHANGED);
    assertThat(scene.fired).hasSize(1);
  }

  @Test
  void namesTheProblemOfASpec() {
    assertThatThrownBy(() -> scene.scheduler.schedule(TimerSpec.of("shop", "a").at(START)))
        .hasMessageContaining("no target");
    assertThatThrownBy(() -> scene.scheduler.schedule(spec("a"))).hasMessageContaining("no time");
    assertThatThrownBy(() -> scene.scheduler.schedule(spec("a").at(START).after(Duration.ZERO)))
        .hasMessageContaining("only one of them");
    assertThatThrownBy(() -> spec("a").every(Duration.ofMillis(99)))
        .hasMessageContaining("period: PT0.099S");
    assertThatThrownBy(() -> scene.scheduler.schedule(spec("a").cron("0 0 30 2 *", ZoneOffset.UTC)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> TimerSpec.of("shop", "x".repeat(257)))
        .hasMessageContaining("id: 257 bytes");
    assertThatThrownBy(() -> TimerSpec.of("", "x")).hasMessageContaining("namespace: 0 bytes");
    assertThatThrownBy(() -> TimerSpec.of("shop", "a\nb")).hasMessageContaining("U+000A");
    assertThatThrownBy(() -> spec("a").payload(new byte[64 * 1024 + 1]))
        .hasMessageContaining("payload: 65537 bytes");
    assertThatThrownBy(() -> new RetryPolicy(0, Duration.ofSeconds(1), Duration.ofSeconds(1)))
        .hasMessageContaining("maxAttempts: 0");
  }

  // Pauses

  @Test
  void pausesAndResumes() {
    scene.scheduler.schedule(spec("a").after(Duration.ofSeconds(5)));
    scene.scheduler.timer("shop", "a").pause();
    scene.advance(10_000);
    assertThat(scene.fired).isEmpty();
    assertThat(scene.state("a")).isEqualTo(TimerState.PAUSED);
    scene.scheduler.timer("shop", "a").resume();
    scene.kit.settle();
    assertThat(scene.fired).containsExactly("a@10000");
  }

  @Test
  void pausesANamespaceAcrossARestart() {
    scene.scheduler.schedule(spec("a").after(Duration.ofSeconds(5)));
    scene.scheduler.schedule(TimerSpec.of("zoo", "z").handler("h").after(Duration.ofSeconds(5)));
    scene.scheduler.namespace("shop").pause();
    scene.restart();
    scene.advance(10_000);
    assertThat(scene.fired).containsExactly("z@5000");
    scene.scheduler.namespace("shop").resume();
    scene.kit.settle();
    assertThat(scene.fired).containsExactly("z@5000", "a@10000");
  }

  // Lookups

  @Test
  void listsInPagesAndCounts() {
    for (int i = 0; i < 10; i++) {
      scene.scheduler.schedule(spec("t" + i).after(Duration.ofHours(i + 1)));
    }
    TimerFilter shop = TimerFilter.unfinished().namespace("shop");
    var first = scene.scheduler.timers(shop).list(6, null);
    String token = first.nextPage().orElseThrow();
    var second = scene.scheduler.timers(shop.withoutPayload()).list(6, token);
    assertThat(first.timers()).hasSize(6);
    assertThat(second.timers()).hasSize(4);
    assertThat(second.nextPage()).isEmpty();
    assertThat(
            scene
                .scheduler
                .namespace("shop")
                .histogram(START, START.plus(Duration.ofHours(11)), 11))
        .containsExactly(0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
    List<Instant> bounds =
        Stream.of(0, 1, 3, 11).map(h -> START.plus(Duration.ofHours(h))).toList();
    assertThat(scene.scheduler.namespace("shop").histogram(bounds)).containsExactly(0, 2, 8);
    assertThat(shop.pageAfter(first.timers().get(5))).isEqualTo(token);
    for (TimerFilter other : List.of(TimerFilter.unfinished(), shop.prefix("t"))) {
      assertThatThrownBy(() -> scene.scheduler.timers(other).list(6, token))
          .hasMessageContaining("expected: a page token of this list");
    }
    assertThatThrownBy(() -> scene.scheduler.timers(TimerFilter.unfinished()).list(6, "%%"))
        .hasMessageContaining("page: %%");
  }

  @Test
  void eachItemOfABatchSucceedsOrFailsOnItsOwn() {
    var results =
        scene.scheduler.scheduleAll(
            List.of(
                spec("a").after(Duration.ofSeconds(1)),
                spec("b"),
                spec("a").after(Duration.ofSeconds(2))));
    assertThat(results.get(0).orThrow().outcome()).isEqualTo(ScheduleResult.Outcome.CREATED);
    assertThat(results.get(1).error()).hasMessageContaining("no time");
    assertThat(results.get(2).orThrow().outcome()).isEqualTo(ScheduleResult.Outcome.REPLACED);
    assertThat(scene.scheduler.timers(List.of(new TimerKey("shop", "a"))).pause())
        .extracting(result -> result.orThrow())
        .containsExactly(VerbResult.DONE);
  }

  @Test
  void refusesAllCallsOnceClosed() {
    scene.kit.close(scene.scheduler);
    assertThatThrownBy(() -> scene.scheduler.schedule(spec("a").after(Duration.ZERO)))
        .isInstanceOf(IllegalStateException.class);
    scene.reopen();
    assertThat(scene.scheduler.timer("shop", "a").get()).isEmpty();
  }
}
