// SPDX-License-Identifier: Apache-2.0
package io.timewheel.micrometer;

import static java.util.Objects.requireNonNull;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.timewheel.durable.DurableStats;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.LagHistogram;
import io.timewheel.durable.model.TimerState;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/**
 * Publishes the {@link DurableStats} of a scheduler for durable timers as meters. The meters read
 * them when a registry polls.
 *
 * <table>
 * <caption>The meters; the tag {@code timer} is the name of the scheduler</caption>
 * <tr><th>Name, after {@code timewheel.durable.}<th>Kind<th>Figure
 * <tr><td>{@code fired}, {@code succeeded}, {@code failed}, {@code exhausted}, {@code blocked}, {@code lost}, {@code skipped}, {@code stale.owner}, {@code unknown.outcomes}, {@code failed.commits}, {@code rejected}, {@code clock.jumps}<td>counter<td>the value of that name in {@link DurableStats}
 * <tr><td>{@code shards}, {@code window}, {@code backlog}, {@code waiting}, {@code running}, {@code queued}, {@code own.queued}<td>gauge<td>the value of that name in {@link DurableStats}
 * <tr><td>{@code store.available}<td>gauge<td>1 if the store is available, otherwise 0
 * <tr><td>{@code lag.within}, with the tag {@code bound} in seconds<td>counter
 * <td>attempts with at most that lag; for {@code histogram_quantile} of Prometheus, {@code label_replace} turns {@code bound} into {@code le}
 * <tr><td>{@code lag.longest}<td>gauge<td>{@link DurableStats#maxLagMillis}
 * <tr><td>{@code timers}, with the tag {@code state}<td>gauge
 * <td>{@link DurableTimer#counts}, summed over namespaces; this meter queries the store
 * </table>
 *
 * <p>The registry does not keep the scheduler alive.
 */
public final class DurableTimerMetrics implements MeterBinder {
  private static final String PREFIX = "timewheel.durable.";

  private final DurableTimer timer;
  private final String name;

  /**
   * Makes the meters of a scheduler, not yet bound to a registry.
   *
   * @param timer the scheduler
   * @param name the value of the tag {@code timer}
   */
  public DurableTimerMetrics(DurableTimer timer, String name) {
    this.timer = requireNonNull(timer, "timer");
    this.name = requireNonNull(name, "name");
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    count(registry, "fired", "attempts", "Attempts that started", DurableStats::fired);
    count(registry, "succeeded", "attempts", "Attempts that succeeded", DurableStats::succeeded);
    count(registry, "failed", "attempts", "Attempts that failed", DurableStats::failed);
    count(
        registry,
        "exhausted",
        "runs",
        "Runs whose attempts are exhausted",
        DurableStats::exhausted);
    count(registry, "blocked", "timers", "Timers without a handler here", DurableStats::blocked);
    count(registry, "lost", "attempts", "Attempts without a recorded outcome", DurableStats::lost);
    count(registry, "skipped", "runs", "Missed runs that were dropped", DurableStats::skipped);
    count(registry, "stale.owner", "shards", "Shards found to be lost", DurableStats::staleOwner);
    count(
        registry,
        "unknown.outcomes",
        "changes",
        "Changes whose outcome in the store is unknown",
        DurableStats::unknownOutcomes);
    count(
        registry, "failed.commits", "commits", "Commits that failed", DurableStats::failedCommits);
    count(
        registry,
        "rejected",
        "changes",
        "Changes of the engine that the store rejected",
        DurableStats::rejected);
    count(registry, "clock.jumps", "jumps", "Jumps of the clock", DurableStats::clockJumps);
    gauge(
        registry, "shards", "shards", "Shards whose timers this node fires", DurableStats::shards);
    gauge(registry, "window", "timers", "Timers that are due soon", DurableStats::window);
    gauge(
        registry,
        "backlog",
        "timers",
        "Overdue timers delayed by their rate limit",
        DurableStats::backlog);
    gauge(
        registry,
        "waiting",
        "timers",
        "Timers that wait for a concurrency slot",
        DurableStats::waiting);
    gauge(registry, "running", "attempts", "Attempts in progress", DurableStats::running);
    gauge(registry, "queued", "changes", "Queued changes of callers", DurableStats::queued);
    gauge(
        registry,
        "own.queued",
        "changes",
        "Queued claims and completions",
        DurableStats::ownQueued);
    Gauge.builder(
            PREFIX + "store.available",
            timer,
            observed -> observed.stats().storeAvailable() ? 1 : 0)
        .description("1 if the store is available, otherwise 0")
        .tag(TimerMetrics.TAG, name)
        .register(registry);
    lag(registry);
    for (TimerState state : TimerState.values()) {
      Gauge.builder(PREFIX + "timers", timer, observed -> count(observed, state))
          .description("Timers in the store, by state")
          .baseUnit("timers")
          .tag(TimerMetrics.TAG, name)
          .tag("state", state.name().toLowerCase(Locale.ROOT))
          .register(registry);
    }
  }

  private static double count(DurableTimer timer, TimerState state) {
    double count = 0;
    for (Map<TimerState, Long> states : timer.counts().values()) {
      count += states.getOrDefault(state, 0L);
    }
    return count;
  }

  private void lag(MeterRegistry registry) {
    List<Duration> bounds = LagHistogram.bounds();
    for (int i = 0; i <= bounds.size(); i++) {
      int bucket = i;
      String bound =
          i == bounds.size() ? "+Inf" : String.valueOf(bounds.get(i).toMillis() / 1_000.0);
      FunctionCounter.builder(
              PREFIX + "lag.within", timer, observed -> observed.stats().lag().countWithin(bucket))
          .description("Attempts that started at most this long after they were due")
          .tag(TimerMetrics.TAG, name)
          .tag("bound", bound)
          .register(registry);
    }
    TimeGauge.builder(
            PREFIX + "lag.longest",
            timer,
            TimeUnit.MILLISECONDS,
            observed -> observed.stats().maxLagMillis())
        .description("The longest lag since the timer was made")
        .tag(TimerMetrics.TAG, name)
        .register(registry);
  }

  private void count(
      MeterRegistry registry,
      String figure,
      String unit,
      String description,
      ToLongFunction<DurableStats> value) {
    FunctionCounter.builder(PREFIX + figure, timer, observed -> value.applyAsLong(observed.stats()))
        .description(description)
        .baseUnit(unit)
        .tag(TimerMetrics.TAG, name)
        .register(registry);
  }

  private void gauge(
      MeterRegistry registry,
      String figure,
      String unit,
      String description,
      ToDoubleFunction<DurableStats> value) {
    Gauge.builder(PREFIX + figure, timer, observed -> value.applyAsDouble(observed.stats()))
        .description(description)
        .baseUnit(unit)
        .tag(TimerMetrics.TAG, name)
        .register(registry);
  }
}
