// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.AsyncHandler;
import io.timewheel.durable.model.HandlerSlots;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.record.DuePosition;
import io.timewheel.durable.spi.record.DueTimer;
import io.timewheel.durable.testkit.DurableTestkit;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Level;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Verifies handlers of all names that begin with a prefix. */
@Tag("promise-52")
class HandlerFamilyTest {
  @RegisterExtension private final LogLines log = new LogLines(Level.WARNING);

  /** The name whose next acquire throws. */
  private String failingAcquire = "";

  /** The name whose next release throws. */
  private String failingRelease = "";

  /** Three slots in total; each name may use one. */
  private final HandlerSlots slots =
      new HandlerSlots() {
        private final Set<String> held = new HashSet<>();

        @Override
        public boolean acquire(String handler) {
          if (handler.equals(failingAcquire)) {
            failingAcquire = "";
            throw new IllegalStateException("on purpose");
          }
          return held.size() < 3 && held.add(handler);
        }

        @Override
        public void release(String handler) {
          assertThat(held.remove(handler)).isTrue();
          if (handler.equals(failingRelease)) {
            failingRelease = "";
            throw new IllegalStateException("on purpose");
          }
        }
      };

  private final Map<String, CompletableFuture<Void>> calls = new LinkedHashMap<>();
  private final Map<String, String> names = new LinkedHashMap<>();
  private final AsyncHandler remote =
      firing -> {
        CompletableFuture<Void> call = new CompletableFuture<>();
        calls.put(firing.id(), call);
        names.put(firing.id(), firing.handler());
        return call;
      };
  private final Scene scene =
      new Scene(
          builder ->
              builder
                  .handlers("host:", remote, 1, slots, null)
                  .handlers("host:two:", remote, 2, HandlerSlots.atMost(4), null)
                  .handler("host:own", firing -> {}));

  /** The names of a family may together have more overdue timers than the window holds. */
  @Test
  void aFullWindowOfAFamilyIsReadAFewTimes() {
    DurableTestkit kit = DurableTestkit.create();
    InMemoryTimerStore data = InMemoryTimerStore.create();
    DurableTimer before = kit.start(data, builder -> {});
    for (int name = 0; name < 40; name++) {
      for (int i = 0; i < 3; i++) {
        before.schedule(
            Scene.spec(name + "-" + i)
                .handler("many:" + name)
                .after(Duration.ofMillis(1_000 + name)));
      }
    }
    kit.kill(before);
    kit.advanceBy(Duration.ofSeconds(10));
    AtomicInteger reads = new AtomicInteger();
    ForwardingTimerStore counting =
        new ForwardingTimerStore(data.reopen()) {
          @Override
          public List<DueTimer> due(int shard, long until, DuePosition after, int limit) {
            if (reads.incrementAndGet() > 1_000) {
              throw new StoreException(StoreException.Kind.UNAVAILABLE, "read endlessly", null);
            }
            return super.due(shard, until, after, limit);
          }
        };
    AsyncHandler neverEnds = firing -> new CompletableFuture<>();
    kit.start(
        counting,
        builder ->
            builder.maxWindow(64).handlers("many:", neverEnds, 1, HandlerSlots.atMost(1), null));
    kit.advanceBy(Duration.ofSeconds(1));
    assertThat(reads).hasValueLessThan(100);
  }

  private void start(String id, String handler) {
    scene.scheduler.schedule(Scene.spec(id).handler(handler).after(Duration.ZERO));
    scene.kit.settle();
  }

  private void complete(String id) {
    calls.get(id).complete(null);
    scene.kit.settle();
  }

  @Test
  void firesForEachNameThatBeginsWithThePrefix() {
    start("a", "host:a");
    start("prefix", "host:");
    complete("a");
    complete("prefix");
    assertThat(scene.state("a")).isEqualTo(TimerState.COMPLETED);
    assertThat(scene.state("prefix")).isEqualTo(TimerState.COMPLETED);
    assertThat(names).containsEntry("a", "host:a").containsEntry("prefix", "host:");
  }

  @Test
  void leavesOtherNamesBlocked() {
    start("a", "hos");
    start("b", "Host:a");
    assertThat(scene.state("a")).isEqualTo(TimerState.BLOCKED);
    assertThat(scene.state("b")).isEqualTo(TimerState.BLOCKED);
  }

  @Test
  void leavesANameToItsOwnHandler() {
    start("a", "host:own");
    assertThat(scene.state("a")).isEqualTo(TimerState.COMPLETED);
    assertThat(calls).isEmpty();
  }

  @Test
  void limitsEachNameByItself() {
    start("a1", "host:a");
    start("a2", "host:a");
    start("b1", "host:b");
    assertThat(calls).containsOnlyKeys("a1", "b1");
    complete("a1");
    assertThat(calls).containsOnlyKeys("a1", "b1", "a2");
  }

  @Test
  void limitsANameByTheLongestMatchingPrefix() {
    start("a", "host:two:x");
    start("b", "host:two:x");
    start("c", "host:two:x");
    assertThat(calls).containsOnlyKeys("a", "b");
  }

  @Test
  void aReleasedSlotGoesToTheNameThatWasRefusedFirst() {
    for (String name : new String[] {"a", "b", "c", "d", "e"}) {
      start(name + 1, "host:" + name);
      start(name + 2, "host:" + name);
    }
    assertThat(calls).containsOnlyKeys("a1", "b1", "c1");
    assertThat(scene.scheduler.stats().running()).isEqualTo(3);
    complete("b1"); // b2 has waited longer than d1; a2 can only use the slot of a1
    assertThat(calls).containsOnlyKeys("a1", "b1", "c1", "b2");
    complete("b2");
    assertThat(calls).containsOnlyKeys("a1", "b1", "c1", "b2", "d1");
    complete("d1");
    assertThat(calls).containsKey("e1");
    for (String id : new String[] {"e1", "a1", "c1", "d2", "e2", "a2", "c2"}) {
      complete(id);
    }
    assertThat(scene.scheduler.counts().get("shop")).containsOnlyKeys(TimerState.COMPLETED);
    assertThat(scene.scheduler.stats().waiting()).isZero();
  }

  @Test
  void aTimerWithoutASlotUsesNoAttempt() {
    for (String name : new String[] {"a", "b", "c", "d"}) {
      start(name, "host:" + name);
    }
    scene.advance(3_600_000);
    assertThat(scene.scheduler.timer("shop", "d").get().orElseThrow().attempts()).isEmpty();
    assertThat(scene.scheduler.timer("shop", "d").get().orElseThrow().attempt()).isZero();
    complete("a");
    assertThat(calls).containsKey("d");
    assertThat(scene.scheduler.timer("shop", "d").get().orElseThrow().attempt()).isEqualTo(1);
  }

  @Test
  void skipsTimersThatWereCancelledWhileTheyWaitedForASlot() {
    for (String name : new String[] {"a", "b", "c", "d", "e"}) {
      start(name, "host:" + name);
    }
    scene.scheduler.timer("shop", "d").cancel();
    complete("a");
    assertThat(calls).containsOnlyKeys("a", "b", "c", "e");
    assertThat(scene.scheduler.stats().waiting()).isZero();
  }

  @Test
  void dropsNamesWhoseTimersWereCancelledWhileTheyWaited() {
    for (String name : new String[] {"a", "b", "c", "d", "e"}) {
      start(name, "host:" + name);
    }
    scene.scheduler.timer("shop", "d").cancel();
    assertThat(scene.scheduler.stats().waiting()).isEqualTo(2);
    scene.advance(60_000);
    assertThat(scene.scheduler.stats().waiting()).isEqualTo(1);
  }

  // Slots that throw

  private void startFive() {
    for (String name : new String[] {"a", "b", "c", "d", "e"}) {
      start(name, "host:" + name);
    }
    assertThat(calls).containsOnlyKeys("a", "b", "c");
  }

  @Test
  void anExceptionForOneNameDelaysNoOtherName() {
    startFive();
    failingAcquire = "host:d";
    complete("a");
    assertThat(calls).containsOnlyKeys("a", "b", "c", "e");
    complete("b"); // its slot is offered again
    assertThat(calls).containsKey("d");
    assertThat(log.lines())
        .containsExactly(
            "the shared slots fail for the handler host:d: java.lang.IllegalStateException: on"
                + " purpose");
  }

  @Test
  void offersASlotWhoseReleaseThrew() {
    startFive();
    failingRelease = "host:a";
    complete("a");
    assertThat(calls).containsOnlyKeys("a", "b", "c", "d");
    assertThat(log.lines()).singleElement().asString().contains("the handler host:a");
  }

  @Test
  void asksAgainWithinAMinuteForANameWhoseAcquireThrew() {
    failingAcquire = "host:a";
    start("a", "host:a");
    assertThat(calls).isEmpty();
    scene.advance(60_000);
    assertThat(calls).containsOnlyKeys("a");
    complete("a");
    assertThat(scene.state("a")).isEqualTo(TimerState.COMPLETED);
  }

  @Test
  void servesANameAgainAfterItWasIdle() {
    for (int i = 0; i < 10; i++) {
      start("t" + i, "host:" + i % 2);
      complete("t" + i);
      assertThat(scene.state("t" + i)).isEqualTo(TimerState.COMPLETED);
    }
  }

  @Test
  void aCloseGivesBackTimersThatWaitForASlot() {
    for (String name : new String[] {"a", "b", "c", "d", "e"}) {
      start(name, "host:" + name);
    }
    scene.scheduler.close();
    scene.reopen();
    scene.kit.settle();
    assertThat(scene.scheduler.stats().running()).isEqualTo(3);
    assertThat(scene.scheduler.counts().get("shop").get(TimerState.FAILED)).isNull();
    for (int i = 0; i < 5; i++) {
      calls.values().forEach(call -> call.complete(null));
      scene.kit.settle();
    }
    assertThat(scene.scheduler.counts().get("shop")).containsOnlyKeys(TimerState.COMPLETED);
  }

  @Test
  void blockedTimersFireOnceANodeHasThePrefix() {
    DurableTestkit kit = DurableTestkit.create();
    InMemoryTimerStore store = InMemoryTimerStore.create();
    DurableTimer ignorant = kit.start(store, builder -> {});
    ignorant.schedule(Scene.spec("p").handler("host:z").after(Duration.ZERO));
    kit.settle();
    assertThat(ignorant.timer("shop", "p").get().orElseThrow().state())
        .isEqualTo(TimerState.BLOCKED);
    kit.close(ignorant);
    DurableTimer knowing =
        kit.start(
            store.reopen(),
            builder -> builder.handlers("host:", remote, 1, HandlerSlots.atMost(1), null));
    calls.get("p").complete(null);
    kit.settle();
    assertThat(knowing.timer("shop", "p").get().orElseThrow().state())
        .isEqualTo(TimerState.COMPLETED);
  }
}
