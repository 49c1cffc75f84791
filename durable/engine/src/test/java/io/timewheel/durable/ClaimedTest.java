// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.CancelResult;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.StoreListener;
import io.timewheel.durable.testkit.DurableTestkit;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Verifies claimed attempts that wait for a concurrency slot of a slow handler. */
@Tag("promise-40")
@Tag("promise-60")
class ClaimedTest {
  private final DurableTestkit kit = DurableTestkit.create();
  private final Deque<Runnable> handed = new ArrayDeque<>();
  private final List<String> fired = new ArrayList<>();
  private Runnable onFire = () -> {};
  private StoreListener listener;
  private final DurableTimer scheduler =
      kit.start(
          new ForwardingTimerStore(InMemoryTimerStore.create()) {
            @Override
            public void start(StoreListener engine) {
              listener = engine;
              super.start(engine);
            }
          },
          builder ->
              builder
                  .handler("h", firing -> handle(firing.id()), 1, null)
                  .handlerExecutor(handed::add));

  private void handle(String id) {
    fired.add(id);
    onFire.run();
  }

  @BeforeEach
  void claimOneMoreThanRun() {
    runAll(); // the task of the start
    schedule("first");
    schedule("second");
    assertThat(info("second").state()).isEqualTo(TimerState.RUNNING);
    assertThat(handed).hasSize(1);
  }

  private void schedule(String id) {
    scheduler.schedule(TimerSpec.of("ns", id).handler("h").after(Duration.ZERO));
    kit.settle();
  }

  private TimerInfo info(String id) {
    return scheduler.timer("ns", id).get().orElseThrow();
  }

  private void runAll() {
    while (!handed.isEmpty()) {
      handed.remove().run();
      kit.settle();
    }
  }

  @Test
  void doesNotRunOnceItIsCancelled() {
    assertThat(scheduler.timer("ns", "second").cancel().outcome())
        .isEqualTo(CancelResult.Outcome.RUNNING);
    kit.settle();
    assertThat(info("second").state()).isEqualTo(TimerState.CANCELLED);
    runAll();
    assertThat(fired).containsExactly("first");
  }

  @Test
  void waitsForTheEndOfAPause() {
    scheduler.timer("ns", "second").pause();
    kit.settle();
    assertThat(info("second").state()).isEqualTo(TimerState.PAUSED);
    assertThat(info("second").attempt()).isZero();
    runAll();
    assertThat(fired).containsExactly("first");
    scheduler.timer("ns", "second").resume();
    kit.settle();
    runAll();
    assertThat(fired).containsExactly("first", "second");
  }

  @Test
  void waitsForTheEndOfAPauseOfItsNamespace() {
    assertThat(scheduler.namespace("ns").pause()).as("claimed timers").isEqualTo(2);
    kit.settle();
    runAll();
    assertThat(fired).as("no thread had begun the first one").isEmpty();
    for (String id : List.of("first", "second")) {
      assertThat(info(id).state()).isEqualTo(TimerState.PAUSED);
      assertThat(info(id).attempt()).as("given back uncounted").isZero();
    }
    scheduler.namespace("ns").resume();
    kit.settle();
    runAll();
    assertThat(fired).containsExactly("first", "second");
  }

  @Test
  void doesNotBeginOnAThreadThatTakesItAfterAPause() {
    scheduler.timer("ns", "first").pause();
    runAll();
    assertThat(fired).containsExactly("second");
    assertThat(info("first").state()).isEqualTo(TimerState.PAUSED);
  }

  @Test
  void isCountedByAPauseUntilItIsGivenBack() {
    List<Long> running = new ArrayList<>();
    onFire = () -> running.add(scheduler.allNamespaces().pause());
    runAll();
    assertThat(fired).containsExactly("first");
    assertThat(running).containsExactly(2L);
    assertThat(scheduler.namespace("ns").pause()).isZero();
  }

  @Test
  void doesNotKeepItsShard() {
    listener.releasing(0);
    kit.settle();
    assertThat(info("second").state()).isEqualTo(TimerState.SCHEDULED);
    assertThat(info("second").attempt()).isZero();
    assertThat(info("first").state()).isEqualTo(TimerState.RUNNING);
  }
}
