// SPDX-License-Identifier: Apache-2.0
package io.timewheel.micrometer;

import static java.util.concurrent.TimeUnit.DAYS;
import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.timewheel.HierarchicalWheelTimer;
import io.timewheel.Timeout;
import io.timewheel.TimerTask;
import io.timewheel.testkit.ManualTimer;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** Tests the meters as Prometheus reads them. */
class TimerMetricsTest {
  private static final TimerTask NOTHING = timeout -> {};

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

  @Test
  void metersCarryTheTimersName() {
    ManualTimer timer =
        ManualTimer.create(
            settings ->
                settings
                    .executor(
                        task -> {
                          throw new RejectedExecutionException();
                        })
                    .onError((timeout, error) -> {}));
    new TimerMetrics(timer, "requests").bindTo(registry);

    Timeout moved = timer.newTimeout(NOTHING, 1, HOURS);
    for (int i = 0; i < 5; i++) {
      timer.newTimeout(NOTHING, 1, DAYS);
    }
    for (int i = 0; i < 2; i++) {
      timer.newTimeout(NOTHING, 1, DAYS).cancel();
    }
    timer.newTimeout(
        timeout -> {
          throw new IllegalStateException();
        },
        1,
        MILLISECONDS);
    for (int i = 0; i < 3; i++) {
      timer.newTimeout(NOTHING, 1, MILLISECONDS);
    }
    for (int i = 0; i < 7; i++) {
      moved.reschedule(2, HOURS);
    }
    timer.timeSource().advanceBy(Duration.ofMillis(251));
    timer.poll();

    assertThat(registry.scrape().lines())
        .contains(
            "timewheel_pending_timeouts{timer=\"requests\"} 6.0",
            "timewheel_started_timeouts_total{timer=\"requests\"} 12.0",
            "timewheel_rescheduled_timeouts_total{timer=\"requests\"} 7.0",
            "timewheel_expired_timeouts_total{timer=\"requests\"} 4.0",
            "timewheel_cancelled_timeouts_total{timer=\"requests\"} 2.0",
            "timewheel_failed_tasks_total{timer=\"requests\"} 1.0",
            "timewheel_rejected_tasks_total{timer=\"requests\"} 4.0",
            "timewheel_wakeups_total{timer=\"requests\"} 0.0",
            "timewheel_lag_longest_seconds{timer=\"requests\"} 0.25",
            "# TYPE timewheel_pending_timeouts gauge",
            "# TYPE timewheel_started_timeouts_total counter",
            "# HELP timewheel_failed_tasks_total Tasks that threw");
  }

  @Test
  void countsWakeUpsOfATimerWithAThread() throws InterruptedException {
    HierarchicalWheelTimer timer = HierarchicalWheelTimer.create();
    new TimerMetrics(timer, "real").bindTo(registry);
    CountDownLatch ran = new CountDownLatch(1);
    timer.newTimeout(timeout -> ran.countDown(), 20, MILLISECONDS);

    ran.await();
    timer.stop();

    long wakeups = timer.stats().wakeups();
    assertThat(wakeups).isPositive();
    assertThat(registry.scrape().lines())
        .contains("timewheel_wakeups_total{timer=\"real\"} " + (double) wakeups);
  }

  @Test
  void namesDistinguishTimers() {
    ManualTimer one = ManualTimer.create();
    ManualTimer two = ManualTimer.create();
    new TimerMetrics(one, "one").bindTo(registry);
    new TimerMetrics(two, "two").bindTo(registry);
    one.newTimeout(NOTHING, 1, HOURS);

    assertThat(registry.scrape().lines())
        .contains(
            "timewheel_pending_timeouts{timer=\"one\"} 1.0",
            "timewheel_pending_timeouts{timer=\"two\"} 0.0");
  }

  @Test
  void lagIsAHistogramInSeconds() {
    ManualTimer timer =
        ManualTimer.create(settings -> settings.listener(new LagMetrics(registry, "late")));
    timer.newTimeout(NOTHING, 1, MILLISECONDS);
    timer.newTimeout(NOTHING, 751, MILLISECONDS);
    timer.newTimeout(NOTHING, 1, HOURS).cancel();
    timer.timeSource().advanceBy(Duration.ofMillis(1001));
    timer.poll();

    assertThat(registry.scrape().lines())
        .contains(
            "# TYPE timewheel_lag_seconds histogram",
            "timewheel_lag_seconds_count{timer=\"late\"} 2",
            "timewheel_lag_seconds_sum{timer=\"late\"} 1.25",
            "timewheel_lag_seconds_bucket{timer=\"late\",le=\"0.067108864\"} 0",
            "timewheel_lag_seconds_bucket{timer=\"late\",le=\"+Inf\"} 2",
            "timewheel_lag_seconds_max{timer=\"late\"} 1.0")
        .as("a bucket between the two")
        .anyMatch(line -> line.matches("timewheel_lag_seconds_bucket.*le=\"0\\.[3-9].*} 1"));
  }

  @Test
  void bothMetersOfOneTimerWorkTogether() {
    ManualTimer timer =
        ManualTimer.create(settings -> settings.listener(new LagMetrics(registry, "both")));
    new TimerMetrics(timer, "both").bindTo(registry);
    timer.newTimeout(NOTHING, 1, MILLISECONDS);
    timer.advanceBy(Duration.ofMillis(1));

    assertThat(registry.scrape().lines())
        .contains(
            "timewheel_expired_timeouts_total{timer=\"both\"} 1.0",
            "timewheel_lag_seconds_count{timer=\"both\"} 1",
            "timewheel_lag_longest_seconds{timer=\"both\"} 0.0");
  }

  @Test
  void nullIsRefused() {
    ManualTimer timer = ManualTimer.create();
    assertThatNullPointerException()
        .isThrownBy(() -> new TimerMetrics(null, "a name"))
        .withMessage("timer");
    assertThatNullPointerException()
        .isThrownBy(() -> new TimerMetrics(timer, null))
        .withMessage("name");
    assertThatNullPointerException()
        .isThrownBy(() -> new LagMetrics(null, "a name"))
        .withMessage("registry");
    assertThatNullPointerException()
        .isThrownBy(() -> new LagMetrics(registry, null))
        .withMessage("name");
  }
}
