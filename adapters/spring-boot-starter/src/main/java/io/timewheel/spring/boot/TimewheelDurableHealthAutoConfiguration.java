// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import io.timewheel.durable.DurableTimer;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Configures a health indicator for durable timers, if Spring Boot's health support is on the class
 * path. It reports {@code DOWN} if the store cannot be read or does not accept changes, and {@code
 * UNKNOWN} if no bean uses durable timers.
 */
@AutoConfiguration(after = TimewheelDurableAutoConfiguration.class)
@ConditionalOnClass(DurableTimer.class)
@ConditionalOnBean(DurableTimers.class)
public final class TimewheelDurableHealthAutoConfiguration {
  TimewheelDurableHealthAutoConfiguration() {}

  /** For Spring Boot 4. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(org.springframework.boot.health.contributor.HealthIndicator.class)
  static class Boot4 {
    @Bean
    @ConditionalOnMissingBean(name = "timewheelHealthIndicator")
    @org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator(
        "timewheel")
    org.springframework.boot.health.contributor.HealthIndicator timewheelHealthIndicator(
        DurableTimers timers) {
      return new org.springframework.boot.health.contributor.AbstractHealthIndicator(
          DurableHealth.FAILED) {
        @Override
        protected void doHealthCheck(
            org.springframework.boot.health.contributor.Health.Builder health) {
          DurableHealth found = DurableHealth.of(timers);
          health.status(found.status()).withDetails(found.details());
        }
      };
    }
  }

  /** For Spring Boot 3. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(org.springframework.boot.actuate.health.HealthIndicator.class)
  static class Boot3 {
    @Bean
    @ConditionalOnMissingBean(name = "timewheelHealthIndicator")
    @org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator(
        "timewheel")
    org.springframework.boot.actuate.health.HealthIndicator timewheelHealthIndicator(
        DurableTimers timers) {
      return new org.springframework.boot.actuate.health.AbstractHealthIndicator(
          DurableHealth.FAILED) {
        @Override
        protected void doHealthCheck(
            org.springframework.boot.actuate.health.Health.Builder health) {
          DurableHealth found = DurableHealth.of(timers);
          health.status(found.status()).withDetails(found.details());
        }
      };
    }
  }
}
