// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import io.timewheel.HierarchicalWheelTimer;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * The properties {@code timewheel.*}. The file {@code spring-configuration-metadata.json} describes
 * them. It is written by hand, and a test compares it with this record.
 */
@ConfigurationProperties(TimewheelProperties.PREFIX)
record TimewheelProperties(
    @DefaultValue("timewheel") String name,
    @DefaultValue("1ms") Duration tick,
    @DefaultValue("0") long maxPendingTimeouts,
    @Nullable Integer stripes,
    @DefaultValue("8") int workerThreads,
    @DefaultValue("10s") Duration shutdownTimeout) {
  static final String PREFIX = "timewheel";

  /** Returns the settings of a timer without a limit. */
  HierarchicalWheelTimer.Builder timer() {
    HierarchicalWheelTimer.Builder timer = HierarchicalWheelTimer.builder().name(name);
    set("tick", tick, timer::tick);
    if (stripes != null) {
      set("stripes", stripes, timer::stripes);
    }
    return timer;
  }

  /** Returns {@code workerThreads}, after checking that it is at least one. */
  int checkedWorkerThreads() {
    if (workerThreads < 1) {
      throw invalid("worker-threads", workerThreads, "expected: at least 1");
    }
    return workerThreads;
  }

  /**
   * Applies a setting, whose value the builder checks. Spring Boot reports an invalid value and its
   * origin only if the error is thrown after the properties are bound.
   */
  private static <T> void set(String property, T value, Consumer<T> setting) {
    try {
      setting.accept(value);
    } catch (IllegalArgumentException e) {
      throw invalid(property, value, String.valueOf(e.getMessage()));
    }
  }

  private static InvalidConfigurationPropertyValueException invalid(
      String property, Object value, String reason) {
    return new InvalidConfigurationPropertyValueException(PREFIX + "." + property, value, reason);
  }
}
