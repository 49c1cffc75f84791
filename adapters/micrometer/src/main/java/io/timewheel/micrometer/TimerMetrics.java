// SPDX-License-Identifier: Apache-2.0
package io.timewheel.micrometer;

import static java.util.Objects.requireNonNull;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.timewheel.Timer;
import io.timewheel.TimerStats;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;

/**
 * Publishes the {@link TimerStats} of a timer as meters. The meters read them when a registry
 * polls.
 *
 * <table>
 * <caption>The meters; the tag {@code timer} is the name of the timer</caption>
 * <tr><th>Name<th>Base unit<th>Kind<th>Figure
 * <tr><td>{@code timewheel.pending}<td>timeouts<td>gauge<td>{@link TimerStats#pending}
 * <tr><td>{@code timewheel.started}<td>timeouts<td>counter<td>{@link TimerStats#started}
 * <tr><td>{@code timewheel.rescheduled}<td>timeouts<td>counter<td>{@link TimerStats#rescheduled}
 * <tr><td>{@code timewheel.expired}<td>timeouts<td>counter<td>{@link TimerStats#expired}
 * <tr><td>{@code timewheel.cancelled}<td>timeouts<td>counter<td>{@link TimerStats#cancelled}
 * <tr><td>{@code timewheel.failed}<td>tasks<td>counter<td>{@link TimerStats#failed}
 * <tr><td>{@code timewheel.rejected}<td>tasks<td>counter<td>{@link TimerStats#rejected}
 * <tr><td>{@code timewheel.wakeups}<td>wakeups<td>counter<td>{@link TimerStats#wakeups}
 * <tr><td>{@code timewheel.lag.longest}<td>the registry's time unit<td>gauge
 * <td>{@link TimerStats#maxLagNanos}
 * </table>
 *
 * <p>The registry does not keep the timer alive.
 */
public final class TimerMetrics implements MeterBinder {
  /** The tag that contains the name of the timer. */
  static final String TAG = "timer";

  private final Timer timer;
  private final String name;

  /**
   * Makes the meters of a timer, not yet bound to a registry.
   *
   * @param timer the timer
   * @param name the value of the tag {@code timer}
   */
  public TimerMetrics(Timer timer, String name) {
    this.timer = requireNonNull(timer, "timer");
    this.name = requireNonNull(name, "name");
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    Gauge.builder("timewheel.pending", timer, Timer::pendingTimeouts)
        .description("Timeouts that are neither expired nor cancelled")
        .baseUnit("timeouts")
        .tag(TAG, name)
        .register(registry);
    count(registry, "started", "timeouts", "Timeouts that were started", TimerStats::started);
    count(
        registry, "rescheduled", "timeouts", "Deadlines that were moved", TimerStats::rescheduled);
    count(registry, "expired", "timeouts", "Timeouts that expired", TimerStats::expired);
    count(registry, "cancelled", "timeouts", "Timeouts that were cancelled", TimerStats::cancelled);
    count(registry, "failed", "tasks", "Tasks that threw", TimerStats::failed);
    count(registry, "rejected", "tasks", "Tasks that the executor rejected", TimerStats::rejected);
    count(registry, "wakeups", "wakeups", "Wake-ups of the timer thread", TimerStats::wakeups);
    TimeGauge.builder(
            "timewheel.lag.longest",
            timer,
            TimeUnit.NANOSECONDS,
            observed -> observed.stats().maxLagNanos())
        .description("The longest lag since the timer was made")
        .tag(TAG, name)
        .register(registry);
  }

  private void count(
      MeterRegistry registry,
      String figure,
      String unit,
      String description,
      ToLongFunction<TimerStats> value) {
    FunctionCounter.builder(
            "timewheel." + figure, timer, observed -> value.applyAsLong(observed.stats()))
        .description(description)
        .baseUnit(unit)
        .tag(TAG, name)
        .register(registry);
  }
}
