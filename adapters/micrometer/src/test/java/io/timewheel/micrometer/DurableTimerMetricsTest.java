// SPDX-License-Identifier: Apache-2.0
package io.timewheel.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.testkit.DurableTestkit;
import io.timewheel.durable.testkit.FaultyStore;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Tests the meters of a durable timer as Prometheus reads them. */
class DurableTimerMetricsTest {
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final DurableTestkit kit = DurableTestkit.create();
  private final FaultyStore store = new FaultyStore(InMemoryTimerStore.create());
  private final DurableTimer scheduler =
      kit.start(
          store,
          builder ->
              builder
                  .handler("h", firing -> {})
                  .handler(
                      "fails",
                      firing -> {
                        throw new IllegalStateException("no luck");
                      }));

  private static TimerSpec spec(String id, String handler) {
    return TimerSpec.of("ns", id)
        .handler(handler)
        .after(Duration.ofSeconds(1))
        .retry(new RetryPolicy(1, Duration.ofSeconds(1), Duration.ofSeconds(1)));
  }

  @Test
  void metersEqualTheStatsOfTheTimer() {
    new DurableTimerMetrics(scheduler, "orders").bindTo(registry);
    scheduler.schedule(spec("a", "h"));
    scheduler.schedule(spec("b", "fails"));
    scheduler.schedule(spec("c", "unknown"));
    kit.advanceBy(Duration.ofSeconds(1));
    scheduler.schedule(spec("d", "h"));

    assertThat(registry.scrape().lines())
        .contains(
            "timewheel_durable_fired_attempts_total{timer=\"orders\"} 2.0",
            "timewheel_durable_succeeded_attempts_total{timer=\"orders\"} 1.0",
            "timewheel_durable_failed_attempts_total{timer=\"orders\"} 1.0",
            "timewheel_durable_exhausted_runs_total{timer=\"orders\"} 1.0",
            "timewheel_durable_blocked_timers_total{timer=\"orders\"} 1.0",
            "timewheel_durable_failed_commits_total{timer=\"orders\"} 0.0",
            "timewheel_durable_rejected_changes_total{timer=\"orders\"} 0.0",
            "timewheel_durable_window_timers{timer=\"orders\"} 1.0",
            "timewheel_durable_shards{timer=\"orders\"} 1.0",
            "timewheel_durable_queued_changes{timer=\"orders\"} 0.0",
            "timewheel_durable_store_available{timer=\"orders\"} 1.0",
            "timewheel_durable_lag_within_total{bound=\"0.001\",timer=\"orders\"} 2.0",
            "timewheel_durable_lag_within_total{bound=\"+Inf\",timer=\"orders\"} 2.0",
            "timewheel_durable_lag_longest_seconds{timer=\"orders\"} 0.0",
            "timewheel_durable_timers{state=\"failed\",timer=\"orders\"} 1.0",
            "timewheel_durable_timers{state=\"scheduled\",timer=\"orders\"} 1.0",
            "timewheel_durable_timers{state=\"paused\",timer=\"orders\"} 0.0");
  }

  @Test
  void showsAnUnavailableStoreAndTheWaitingChanges() {
    new DurableTimerMetrics(scheduler, "orders").bindTo(registry);
    scheduler.schedule(spec("a", "h"));
    store.faults(changes -> FaultyStore.Fault.UNAVAILABLE);
    kit.advanceBy(Duration.ofSeconds(3));
    assertThat(registry.scrape().lines())
        .contains(
            "timewheel_durable_store_available{timer=\"orders\"} 0.0",
            "timewheel_durable_own_queued_changes{timer=\"orders\"} 1.0");
    store.faults(changes -> FaultyStore.Fault.NONE);
    kit.advanceBy(Duration.ofSeconds(10));
    assertThat(registry.scrape().lines())
        .contains("timewheel_durable_store_available{timer=\"orders\"} 1.0")
        .as("late by the outage of the store")
        .contains("timewheel_durable_lag_within_total{bound=\"1.0\",timer=\"orders\"} 0.0")
        .contains("timewheel_durable_lag_within_total{bound=\"10.0\",timer=\"orders\"} 1.0");
  }

  @Test
  void nullIsRefused() {
    assertThatNullPointerException()
        .isThrownBy(() -> new DurableTimerMetrics(null, "a name"))
        .withMessage("timer");
    assertThatNullPointerException()
        .isThrownBy(() -> new DurableTimerMetrics(scheduler, null))
        .withMessage("name");
  }
}
