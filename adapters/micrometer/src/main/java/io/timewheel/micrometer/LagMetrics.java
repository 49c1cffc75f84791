// SPDX-License-Identifier: Apache-2.0
package io.timewheel.micrometer;

import static java.util.Objects.requireNonNull;

import io.micrometer.core.instrument.MeterRegistry;
import io.timewheel.Timeout;
import io.timewheel.TimerListener;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Records how late timeouts fire, as the Micrometer timer {@code timewheel.lag} with a histogram
 * and the name of the timer as its tag {@code timer}. The lag includes the tick's own share.
 *
 * <p>A histogram can be summed up over machines and lets a monitoring system compute percentiles;
 * for percentiles from the process itself, set them with a {@link
 * io.micrometer.core.instrument.config.MeterFilter}.
 */
public final class LagMetrics implements TimerListener {
  private final io.micrometer.core.instrument.Timer lag;

  /**
   * Makes a listener that records in a registry.
   *
   * @param registry where the lag is recorded
   * @param name what to call the timer in the tag {@code timer}
   */
  public LagMetrics(MeterRegistry registry, String name) {
    lag =
        io.micrometer.core.instrument.Timer.builder("timewheel.lag")
            .description("Time from a deadline to its task, the tick's own share included")
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
