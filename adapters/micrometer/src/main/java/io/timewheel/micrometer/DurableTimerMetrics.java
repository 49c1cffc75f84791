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
 * The {@link DurableStats} of a durable timer as meters, read when a registry asks for them.
 *
 * <table>
 *   <caption>The meters; each has the name of the timer as its tag {@code timer}</caption>
 *   <tr><th>Name, after {@code timewheel.durable.}<th>Kind<th>Figure
 *   <tr><td>{@code fired}, {@code succeeded}, {@code failed}, {@code exhausted}, {@code blocked},
 *       {@code lost}, {@code skipped}, {@code stale.owner}, {@code unknown.outcomes},
 *       {@code clock.jumps}<td>counter<td>those of {@link DurableStats}
 *   <tr><td>{@code shards}, {@code window}, {@code backlog}, {@code waiting}, {@code running},
 *       {@code queued}, {@code own.queued}<td>gauge<td>those of {@link DurableStats}
 *   <tr><td>{@code store.available}<td>gauge<td>1 or 0
 *   <tr><td>{@code lag.within}, with the tag {@code bound} in seconds<td>counter
 *       <td>attempts that began within that time; for {@code histogram_quantile} of Prometheus,
 *       {@code label_replace} turns {@code bound} into {@code le}
 *   <tr><td>{@code lag.longest}<td>gauge<td>{@link DurableStats#maxLagMillis}
 *   <tr><td>{@code timers}, with the tag {@code state}<td>gauge
 *       <td>{@link DurableTimer#counts}, summed over namespaces: this one asks the store
 * </table>
 *
 * <p>The registry does not keep the timer alive.
 */
public final class DurableTimerMetrics implements MeterBinder {
  private static final String PREFIX = "timewheel.durable.";

  private final DurableTimer timer;
  private final String name;

  /**
   * Makes the meters of a durable timer, not yet bound to a registry.
   *
   * @param timer the timer
   * @param name what to call the timer in the tag {@code timer}
   */
  public DurableTimerMetrics(DurableTimer timer, String name) {
    this.timer = requireNonNull(timer, "timer");
    this.name = requireNonNull(name, "name");
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    count(registry, "fired", "attempts", "Attempts that began", DurableStats::fired);
    count(registry, "succeeded", "attempts", "Attempts that ended well", DurableStats::succeeded);
    count(registry, "failed", "attempts", "Attempts that failed", DurableStats::failed);
    count(registry, "exhausted", "runs", "Runs that were given up", DurableStats::exhausted);
    count(registry, "blocked", "timers", "Timers without a handler here", DurableStats::blocked);
    count(registry, "lost", "attempts", "Attempts that nobody ended", DurableStats::lost);
    count(registry, "skipped", "runs", "Missed runs that were dropped", DurableStats::skipped);
    count(registry, "stale.owner", "shards", "Shards found to be lost", DurableStats::staleOwner);
    count(
        registry,
        "unknown.outcomes",
        "changes",
        "Changes whose outcome the store could not tell",
        DurableStats::unknownOutcomes);
    count(
        registry,
        "failed.commits",
        "commits",
        "Tries to commit that failed",
        DurableStats::failedCommits);
    count(
        registry, "rejected", "changes", "Own changes the store rejected", DurableStats::rejected);
    count(registry, "clock.jumps", "jumps", "Jumps of the clock", DurableStats::clockJumps);
    gauge(registry, "shards", "shards", "Shards that this timer fires", DurableStats::shards);
    gauge(registry, "window", "timers", "Timers that are due soon", DurableStats::window);
    gauge(
        registry, "backlog", "timers", "Overdue timers held to their rate", DurableStats::backlog);
    gauge(registry, "waiting", "timers", "Timers that wait for a place", DurableStats::waiting);
    gauge(registry, "running", "attempts", "Attempts that run", DurableStats::running);
    gauge(registry, "queued", "changes", "Changes of callers in wait", DurableStats::queued);
    gauge(registry, "own.queued", "changes", "Claims and ends in wait", DurableStats::ownQueued);
    Gauge.builder(
            PREFIX + "store.available",
            timer,
            observed -> observed.stats().storeAvailable() ? 1 : 0)
        .description("Whether the store answers")
        .tag(TimerMetrics.TAG, name)
        .register(registry);
    lag(registry);
    for (TimerState state : TimerState.values()) {
      Gauge.builder(PREFIX + "timers", timer, observed -> count(observed, state))
          .description("Timers in the store by their state")
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
          .description("Attempts that began within this time of being due")
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
