// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.timewheel.Timeout;
import io.timewheel.TimerListener;
import io.timewheel.micrometer.LagMetrics;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Records {@link LagMetrics} in every registry to which it is bound. The timer cannot inject the
 * registry itself, because Spring Boot injects the meters of the timer when it makes the registry.
 */
final class BoundLagMetrics implements TimerListener, MeterBinder {
  private final String name;
  private final List<LagMetrics> bound = new CopyOnWriteArrayList<>();

  BoundLagMetrics(String name) {
    this.name = name;
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    bound.add(new LagMetrics(registry, name));
  }

  @Override
  public void expired(Timeout timeout, long lagNanos) {
    for (LagMetrics lag : bound) {
      lag.expired(timeout, lagNanos);
    }
  }
}
