// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import io.micrometer.core.instrument.binder.MeterBinder;
import io.timewheel.Timer;
import io.timewheel.TimerListener;
import io.timewheel.micrometer.LagMetrics;
import io.timewheel.micrometer.TimerMetrics;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/**
 * Configures the meters of the {@link Timer}, if Micrometer is present. Spring Boot binds them to
 * the registry of the application. {@link TimerMetrics} are configured for any single {@link Timer}
 * bean. {@link LagMetrics} are configured only for the timer of {@link TimewheelAutoConfiguration},
 * unless the application has its own {@link TimerListener}.
 */
@AutoConfiguration(after = TimewheelAutoConfiguration.class)
@ConditionalOnClass(MeterBinder.class)
@ConditionalOnSingleCandidate(Timer.class)
public final class TimewheelMetricsAutoConfiguration {
  TimewheelMetricsAutoConfiguration() {}

  @Bean
  @ConditionalOnMissingBean
  TimerMetrics timewheelTimerMetrics(Timer timer, TimewheelProperties properties) {
    return new TimerMetrics(timer, properties.name());
  }

  @Bean
  @ConditionalOnBean(name = TimewheelAutoConfiguration.TIMER)
  @ConditionalOnMissingBean(TimerListener.class)
  BoundLagMetrics timewheelLagMetrics(TimewheelProperties properties) {
    return new BoundLagMetrics(properties.name());
  }
}
