// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.jdbc.JdbcTimerStore;
import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import io.timewheel.durable.spi.TimerStore;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class DurableMetricsTest {
  private final MeterRegistry registry = new SimpleMeterRegistry();

  private final ApplicationContextRunner runner =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  TimewheelAutoConfiguration.class,
                  TimewheelDurableAutoConfiguration.class,
                  TimewheelDurableMetricsAutoConfiguration.class))
          .withPropertyValues("timewheel.name=orders");

  private final ApplicationContextRunner inMemory =
      runner.withBean(TimerStore.class, InMemoryTimerStore::create);

  @Test
  void metersShowTheTimerOnceItIsMade() {
    inMemory.run(
        context -> {
          context.getBean(MeterBinder.class).bindTo(registry);
          assertThat(registry.getMeters()).isEmpty();

          context
              .getBean(DurableTimer.class)
              .schedule(TimerSpec.of("shop", "a").handler("cancel").after(Duration.ofDays(1)));

          assertThat(
                  registry
                      .get("timewheel.durable.timers")
                      .tags("timer", "orders", "state", "scheduled")
                      .gauge()
                      .value())
              .isEqualTo(1);
        });
  }

  @Test
  void aTimerThatIsMadeAlreadyIsBoundAtOnce() {
    inMemory.run(
        context -> {
          context.getBean(DurableTimer.class);
          context.getBean(MeterBinder.class).bindTo(registry);

          assertThat(registry.find("timewheel.durable.fired").meter()).isNotNull();
        });
  }

  @Test
  void metersShowASharedDatabaseOnceTheTimerIsMade() {
    Database database = TestDatabases.postgresql().createDatabase();
    runner
        .withBean(JdbcTimerStore.class, () -> JdbcTimerStore.postgresql(database.dataSource()))
        .run(
            context -> {
              context
                  .getBeansOfType(MeterBinder.class)
                  .values()
                  .forEach(meters -> meters.bindTo(registry));
              assertThat(registry.getMeters()).isEmpty();

              context.getBean(DurableTimer.class);

              assertThat(registry.find("timewheel.durable.fired").meter()).isNotNull();
              assertThat(
                      registry
                          .get("timewheel.durable.jdbc.connection.waits")
                          .tag("timer", "orders")
                          .functionTimer()
                          .count())
                  .isPositive();
            });
  }

  @Test
  void worksWithoutMicrometerOnTheClassPath() {
    inMemory
        .withClassLoader(new FilteredClassLoader("io.micrometer"))
        .run(
            context ->
                assertThat(context).hasNotFailed().doesNotHaveBean("timewheelDurableMetrics"));
  }
}
