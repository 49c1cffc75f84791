// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreTraits;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.DueTimer;
import io.timewheel.durable.spi.record.HandlerNames;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.testkit.DurableTestkit;
import io.timewheel.durable.testkit.ManualExecutor;
import io.timewheel.testkit.ManualTimer;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Verifies that held and blocked timers are released in bounded memory. */
@Tag("promise-47")
class ReleaseTest {
  private static final int TIMERS = 30_000;
  private static final int PAGE = 1_000;

  private final DurableTestkit kit = DurableTestkit.create();
  private final Set<String> fired = new HashSet<>();
  private final InMemoryTimerStore data =
      InMemoryTimerStore.create(
          new StoreTraits(1, 1, 100, Duration.ofMinutes(1), Duration.ZERO, Duration.ZERO));
  private int underWay;
  private int mostUnderWay;
  private int releases;
  private Runnable atRelease = () -> {};
  private Runnable atPage = () -> {};

  private DurableTimer start(String handler) {
    return kit.start(
        new ForwardingTimerStore(data.reopen()) {
          @Override
          public List<Outcome> commit(List<Change> changes) {
            for (Change change : changes) {
              if (change instanceof Change.Verb) {
                releases++;
                underWay--;
                atRelease.run();
              }
            }
            return super.commit(changes);
          }

          @Override
          public List<DueTimer> releasable(
              int shard, HandlerNames handlers, Set<String> namespaces, DueTimer after, int limit) {
            atPage.run();
            List<DueTimer> page = super.releasable(shard, handlers, namespaces, after, limit);
            underWay += page.size();
            mostUnderWay = Math.max(mostUnderWay, underWay);
            return page;
          }
        },
        builder ->
            builder.handler(handler, firing -> fired.add(firing.id())).queueCapacity(TIMERS, true));
  }

  private void schedule(DurableTimer scheduler, String namespace, int count) {
    List<TimerSpec> specs =
        IntStream.range(0, count)
            .mapToObj(
                i ->
                    TimerSpec.of(namespace, namespace + i)
                        .handler("h")
                        .after(Duration.ofSeconds(1)))
            .toList();
    scheduler.scheduleAll(specs).forEach(result -> assertThat(result.error()).isNull());
  }

  private long count(DurableTimer scheduler, String namespace, TimerState state) {
    return scheduler.counts().getOrDefault(namespace, Map.of()).getOrDefault(state, 0L);
  }

  @Test
  void releasesHeldTimersAPageAtATime() {
    DurableTimer scheduler = start("h");
    scheduler.namespace("shop").pause();
    schedule(scheduler, "shop", TIMERS);
    kit.advanceBy(Duration.ofSeconds(10));
    assertThat(count(scheduler, "shop", TimerState.PAUSED)).isEqualTo(TIMERS);
    assertThat(fired).isEmpty();

    scheduler.namespace("shop").resume();
    kit.settle();
    assertThat(fired).hasSize(TIMERS);
    assertThat(releases).isEqualTo(TIMERS);
    assertThat(mostUnderWay).isEqualTo(PAGE);
  }

  @Test
  void releasesBlockedTimersAPageAtATime() {
    DurableTimer scheduler = start("another");
    schedule(scheduler, "shop", TIMERS);
    kit.advanceBy(Duration.ofSeconds(10));
    assertThat(count(scheduler, "shop", TimerState.BLOCKED)).isEqualTo(TIMERS);
    kit.kill(scheduler);

    start("h");
    kit.settle();
    assertThat(fired).hasSize(TIMERS);
    assertThat(mostUnderWay).isEqualTo(PAGE);
  }

  @Test
  void timersResumedDuringAPassAreReleasedToo() {
    DurableTimer scheduler = start("h");
    scheduler.namespace("a").pause();
    scheduler.namespace("z").pause();
    schedule(scheduler, "a", 10);
    schedule(scheduler, "z", 2 * PAGE + 10);
    kit.advanceBy(Duration.ofSeconds(10));
    boolean[] resumed = {false};
    atRelease =
        () -> {
          if (releases > PAGE && !resumed[0]) {
            resumed[0] = true;
            scheduler.namespace("a").resume(); // which the present pass has already read
          }
        };
    scheduler.namespace("z").resume();
    kit.settle();
    assertThat(resumed[0]).isTrue();
    assertThat(fired).hasSize(2 * PAGE + 20);
  }

  @Test
  void continuesWithTheNextMaintenanceIfAPageCannotBeRead() {
    DurableTimer scheduler = start("h");
    scheduler.namespace("shop").pause();
    schedule(scheduler, "shop", 2 * PAGE);
    kit.advanceBy(Duration.ofSeconds(10));
    int[] reads = new int[1];
    atPage =
        () -> {
          if (reads[0]++ == 1) {
            throw new StoreException(StoreException.Kind.TRANSIENT, "in a moment", null);
          }
        };
    scheduler.namespace("shop").resume();
    kit.settle();
    assertThat(fired).hasSize(PAGE);
    kit.advanceBy(Duration.ofMinutes(1));
    assertThat(fired).hasSize(2 * PAGE);
  }

  @Test
  void releasesBeforeItIsStarted() {
    DurableTimer before = start("h");
    before.schedule(TimerSpec.of("shop", "blocked").handler("unknown").after(Duration.ZERO));
    kit.settle();
    before.namespace("shop").pause();
    schedule(before, "shop", 1);
    kit.advanceBy(Duration.ofSeconds(5));
    assertThat(count(before, "shop", TimerState.BLOCKED)).isEqualTo(1);
    assertThat(count(before, "shop", TimerState.PAUSED)).isEqualTo(1);
    kit.kill(before);
    ManualExecutor steps = new ManualExecutor();
    DurableTimer unstarted =
        DurableTimer.builder(data.reopen())
            .timer(ManualTimer.create())
            .clock(kit::now)
            .storeExecutor(steps)
            .handlerExecutor(steps)
            .build();
    unstarted.namespace("shop").resume();
    while (steps.runOne()) {
      // Until no work is left.
    }
    assertThat(count(unstarted, "shop", TimerState.PAUSED)).isZero();
  }
}
