// SPDX-License-Identifier: Apache-2.0
package io.timewheel.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.timewheel.durable.jdbc.JdbcFigures;
import io.timewheel.durable.jdbc.JdbcFigures.Sweeps;
import java.lang.ref.WeakReference;
import org.junit.jupiter.api.Test;

/** Tests the meters of a store in a shared database as Prometheus reads them. */
class JdbcStoreMetricsTest {
  private static final JdbcFigures FIGURES =
      new JdbcFigures(
          1,
          2,
          3,
          4,
          5,
          new Sweeps(6, 7, 8_000_000_000L),
          new Sweeps(9, 10, 11_000_000_000L),
          12,
          13,
          14,
          15_000_000_000L,
          16,
          17,
          18);

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

  @Test
  void metersEqualTheFiguresOfTheStore() {
    new JdbcStoreMetrics.Binding<>(registry, "shop", FIGURES, figures -> figures).bind();
    assertThat(registry.scrape().lines().filter(line -> !line.startsWith("#")))
        .containsExactlyInAnyOrder(
            "timewheel_durable_jdbc_shards_received_total{timer=\"shop\"} 1.0",
            "timewheel_durable_jdbc_shards_taken_over_total{timer=\"shop\"} 2.0",
            "timewheel_durable_jdbc_shards_given_total{timer=\"shop\"} 3.0",
            "timewheel_durable_jdbc_leases_lost_total{timer=\"shop\"} 4.0",
            "timewheel_durable_jdbc_fence_refusals_total{timer=\"shop\"} 5.0",
            "timewheel_durable_jdbc_sweeps_seconds_count{extent=\"window\",timer=\"shop\"} 6",
            "timewheel_durable_jdbc_swept_timers_total{extent=\"window\",timer=\"shop\"} 7.0",
            "timewheel_durable_jdbc_sweeps_seconds_sum{extent=\"window\",timer=\"shop\"} 8.0",
            "timewheel_durable_jdbc_sweeps_seconds_count{extent=\"full\",timer=\"shop\"} 9",
            "timewheel_durable_jdbc_swept_timers_total{extent=\"full\",timer=\"shop\"} 10.0",
            "timewheel_durable_jdbc_sweeps_seconds_sum{extent=\"full\",timer=\"shop\"} 11.0",
            "timewheel_durable_jdbc_notifications_sent_total{timer=\"shop\"} 12.0",
            "timewheel_durable_jdbc_notifications_received_total{timer=\"shop\"} 13.0",
            "timewheel_durable_jdbc_connection_waits_seconds_count{timer=\"shop\"} 14",
            "timewheel_durable_jdbc_connection_waits_seconds_sum{timer=\"shop\"} 15.0",
            "timewheel_durable_jdbc_lost_answers_total{outcome=\"committed\",timer=\"shop\"} 16.0",
            "timewheel_durable_jdbc_lost_answers_total{outcome=\"aborted\",timer=\"shop\"} 17.0",
            "timewheel_durable_jdbc_lost_answers_total{outcome=\"unknown\",timer=\"shop\"} 18.0");
  }

  @Test
  void theRegistryDoesNotKeepTheStoreAlive() {
    WeakReference<Object> store = bindToSomethingNew();
    for (int tries = 0; tries < 20 && store.get() != null; tries++) {
      System.gc();
    }
    assertThat(store.get()).isNull();
    assertThat(registry.getMeters()).isNotEmpty();
  }

  private WeakReference<Object> bindToSomethingNew() {
    Object store = new Object();
    new JdbcStoreMetrics.Binding<>(registry, "shop", store, observed -> FIGURES).bind();
    return new WeakReference<>(store);
  }

  @Test
  void nullIsRefused() {
    assertThatNullPointerException()
        .isThrownBy(() -> new JdbcStoreMetrics(null, "a name"))
        .withMessage("store");
  }
}
