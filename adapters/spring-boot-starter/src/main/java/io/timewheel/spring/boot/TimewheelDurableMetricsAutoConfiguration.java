// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import io.micrometer.core.instrument.binder.MeterBinder;
import io.timewheel.durable.DurableTimer;
import io.timewheel.micrometer.DurableTimerMetrics;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/**
 * The meters of the {@link DurableTimer} that {@link TimewheelDurableAutoConfiguration} makes, if
 * Micrometer is present. They are bound when that timer is made, since meters must not open a store
 * that nothing else asks for.
 */
@AutoConfiguration(after = TimewheelDurableAutoConfiguration.class)
@ConditionalOnClass({MeterBinder.class, DurableTimer.class})
@ConditionalOnBean(DurableTimers.class)
public final class TimewheelDurableMetricsAutoConfiguration {
  TimewheelDurableMetricsAutoConfiguration() {}

  @Bean
  @ConditionalOnMissingBean(DurableTimerMetrics.class)
  MeterBinder timewheelDurableMetrics(DurableTimers timers, TimewheelProperties properties) {
    return registry ->
        timers.whenMade(
            timer -> new DurableTimerMetrics(timer, properties.name()).bindTo(registry));
  }
}
