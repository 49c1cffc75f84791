// SPDX-License-Identifier: Apache-2.0
package io.timewheel.micrometer;

import static java.util.Objects.requireNonNull;

import io.micrometer.core.instrument.MeterRegistry;
import io.timewheel.Timeout;
import io.timewheel.TimerListener;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Records the lag of each timeout in the Micrometer timer {@code timewheel.lag}. It has a
 * histogram, and its tag {@code timer} is the name of the timer. The lag includes the wait for the
 * tick.
 *
 * <p>A monitoring system can add the histograms of several machines and compute percentiles from
 * the sum. For percentiles from the process itself, configure them with a {@link
 * io.micrometer.core.instrument.config.MeterFilter}.
 */
public final class LagMetrics implements TimerListener {
  private final io.micrometer.core.instrument.Timer lag;

  /**
   * Makes a listener that records in a registry.
   *
   * @param registry receives the lag
   * @param name the value of the tag {@code timer}
   */
  public LagMetrics(MeterRegistry registry, String name) {
    lag =
        io.micrometer.core.instrument.Timer.builder("timewheel.lag")
            .description(
                "Time from a deadline to the start of its task, including the wait for the tick")
            .tag(TimerMetrics.TAG, requireNonNull(name, "name"))
            .publishPercentileHistogram()
            .minimumExpectedValue(Duration.ofNanos(100_000))
            .maximumExpectedValue(Duration.ofMinutes(1))
            .register(requireNonNull(registry, "registry"));
  }

  @Override
  public void expired(Timeout timeout, long lagNanos) {
    lag.record(lagNanos, TimeUnit.NANOSECONDS);
  }
}
