// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.Handler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Provides a durable timer on a {@link Stand}. Its handler records the firings and their lag. */
abstract class OnStand {
  final List<String> fired = new ArrayList<>();
  final List<Duration> lags = new ArrayList<>();
  Stand stand = new Stand();
  InMemoryTimerStore store = InMemoryTimerStore.create();
  Handler handler = firing -> {};
  DurableTimer scheduler;

  final void start() {
    scheduler = stand.start(store, this::settings);
  }

  final void settings(DurableTimerBuilder builder) {
    builder.handler("h", this::handle, 1, Duration.ofHours(1));
  }

  private void handle(Firing firing) throws Exception {
    fired.add(firing.id());
    lags.add(Duration.between(firing.scheduledAt(), stand.now()));
    handler.handle(firing);
  }

  static TimerSpec spec(String id) {
    return TimerSpec.of("shop", id).handler("h");
  }

  final TimerInfo timer(String id) {
    return scheduler.timer("shop", id).get().orElseThrow();
  }

  final void advance(long millis) {
    stand.advance(Duration.ofMillis(millis));
  }
}
