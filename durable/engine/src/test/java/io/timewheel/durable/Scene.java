// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.Handler;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.StoreTraits;
import io.timewheel.durable.testkit.DurableTestkit;
import io.timewheel.durable.testkit.FaultyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Provides a durable timer without threads, on an in-memory store that fails on request. Its
 * handler {@code h} records the firings and their times. Tests that need executors and wheels that
 * refuse use {@link Stand}.
 */
final class Scene {
  /** A retry policy without retries. */
  static final RetryPolicy ONCE = new RetryPolicy(1, Duration.ofSeconds(1), Duration.ofSeconds(1));

  final DurableTestkit kit = DurableTestkit.create();

  /** The firings: the id, {@code @}, and the milliseconds since the start of the kit's clock. */
  final List<String> fired = new ArrayList<>();

  final List<Firing> firings = new ArrayList<>();

  /** Called by the handler after it has recorded the firing. */
  Handler handler = firing -> {};

  InMemoryTimerStore data;
  FaultyStore store;
  DurableTimer scheduler;
  private final Consumer<DurableTimerBuilder> settings;

  Scene() {
    this(builder -> {});
  }

  /**
   * @param settings further settings of the timer, applied at each start
   */
  Scene(Consumer<DurableTimerBuilder> settings) {
    this(StoreTraits.embedded(), settings);
  }

  Scene(StoreTraits traits, Consumer<DurableTimerBuilder> settings) {
    this.settings = settings;
    data = InMemoryTimerStore.create(traits);
    start();
  }

  private void start() {
    store = new FaultyStore(data);
    scheduler =
        kit.start(
            store,
            builder -> {
              builder.handler("h", this::handle);
              settings.accept(builder);
            });
  }

  private void handle(Firing firing) throws Exception {
    fired.add(firing.id() + "@" + Duration.between(DurableTestkit.START, kit.now()).toMillis());
    firings.add(firing);
    handler.handle(firing);
  }

  void kill() {
    kit.kill(scheduler);
  }

  /** Starts a timer again after a kill or a close, on the same data. */
  void reopen() {
    data = data.reopen();
    start();
  }

  void restart() {
    kill();
    reopen();
  }

  static TimerSpec spec(String id) {
    return TimerSpec.of("shop", id).handler("h");
  }

  void schedule(String id, long afterMillis) {
    scheduler.schedule(spec(id).after(Duration.ofMillis(afterMillis)));
  }

  void advance(long millis) {
    kit.advanceBy(Duration.ofMillis(millis));
  }

  TimerInfo info(String id) {
    return scheduler.timer("shop", id).get().orElseThrow();
  }

  TimerState state(String id) {
    return info(id).state();
  }
}
