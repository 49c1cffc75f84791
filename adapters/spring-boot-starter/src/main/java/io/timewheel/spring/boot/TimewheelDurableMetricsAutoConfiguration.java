// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import io.micrometer.core.instrument.binder.MeterBinder;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.jdbc.JdbcTimerStore;
import io.timewheel.micrometer.DurableTimerMetrics;
import io.timewheel.micrometer.JdbcStoreMetrics;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Configures the meters of the {@link DurableTimer} of {@link TimewheelDurableAutoConfiguration},
 * if Micrometer is present. A store in a shared database has meters too. The meters are bound once
 * the {@link DurableTimer} is created, because meters alone must not open a store.
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

  /** Configures the meters of a store in a shared database. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(JdbcTimerStore.class)
  @ConditionalOnBean(JdbcTimerStore.class)
  static class InASharedDatabase {
    @Bean
    @ConditionalOnMissingBean(JdbcStoreMetrics.class)
    MeterBinder timewheelJdbcMetrics(
        DurableTimers timers,
        ObjectProvider<JdbcTimerStore> stores,
        TimewheelProperties properties) {
      return registry ->
          timers.whenMade(
              timer ->
                  stores.ifUnique(
                      store -> new JdbcStoreMetrics(store, properties.name()).bindTo(registry)));
    }
  }
}
