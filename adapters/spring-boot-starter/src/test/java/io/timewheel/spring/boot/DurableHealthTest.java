// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.testkit.FaultyStore;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.test.util.ReflectionTestUtils;

/**
 * Tests the health of durable timers. Uses reflection, because its types have other names in Spring
 * Boot 3.
 */
@ExtendWith(OutputCaptureExtension.class) // a store that cannot be read is logged
class DurableHealthTest {
  private final InMemoryTimerStore store = InMemoryTimerStore.create();

  private final ApplicationContextRunner runner =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  TimewheelAutoConfiguration.class,
                  TimewheelDurableAutoConfiguration.class,
                  TimewheelDurableHealthAutoConfiguration.class))
          .withBean(TimerStore.class, () -> store);

  private static String status(ApplicationContext context) {
    return ReflectionTestUtils.invokeGetterMethod(health(context), "status").toString();
  }

  private static Map<?, ?> details(ApplicationContext context) {
    return (Map<?, ?>) ReflectionTestUtils.invokeGetterMethod(health(context), "details");
  }

  private static Object health(ApplicationContext context) {
    return ReflectionTestUtils.invokeMethod(context.getBean("timewheelHealthIndicator"), "health");
  }

  @Test
  void reportsWaitingAndFailedTimers() {
    runner
        .withBean(OnTimerTest.Failing.class)
        .run(
            context -> {
              DurableTimer scheduler = context.getBean(DurableTimer.class);
              scheduler.schedule(
                  TimerSpec.of("shop", "a").handler("error").after(Duration.ofDays(365)));
              scheduler.schedule(
                  TimerSpec.of("stock", "b").handler("nobody's").after(Duration.ZERO));
              scheduler.namespace("closed").pause();

              Eventually.holds(
                  "the timer to be blocked",
                  () -> Long.valueOf(1).equals(details(context).get("blocked")));
              assertThat(status(context)).isEqualTo("UP");
              assertThat(details(context).get("scheduled")).isEqualTo(1L);
              assertThat(details(context).get("failed")).isEqualTo(0L);
              assertThat(details(context).get("pausedNamespaces")).hasToString("[closed]");
            });
  }

  @Test
  void isDownWhenTheStoreCannotBeRead() {
    runner
        .withBean(OnTimerTest.Failing.class)
        .run(
            context -> {
              store.close();

              assertThat(status(context)).isEqualTo("DOWN");
              assertThat(details(context).get("error")).asString().contains("is closed");
            });
  }

  @Test
  void isDownWhileTheStoreTakesNoChanges() {
    FaultyStore faulty = new FaultyStore(store);
    runner
        .withBean(DurableTimer.class, () -> DurableTimer.builder(faulty).start())
        .run(
            context -> {
              DurableTimer scheduler = context.getBean(DurableTimer.class);
              TimerSpec spec = TimerSpec.of("shop", "a").handler("h").after(Duration.ofDays(365));
              faulty.faults(changes -> FaultyStore.Fault.UNAVAILABLE);
              assertThatThrownBy(() -> scheduler.schedule(spec)).hasMessageContaining("shop/a");

              assertThat(status(context)).isEqualTo("DOWN");
              assertThat(details(context).get("error")).asString().contains("fails");
              assertThat(details(context).get("failedCommits")).isEqualTo(1L);

              faulty.faults(changes -> FaultyStore.Fault.NONE);
              scheduler.schedule(spec);
              assertThat(status(context)).isEqualTo("UP");
            });
  }

  @Test
  void doesNotOpenAStoreThatIsNotRequested() {
    runner.run(
        context -> {
          assertThat(status(context)).isEqualTo("UNKNOWN");
          assertThat(details(context).get("timers")).isEqualTo("not in use");
        });
  }

  @Test
  void checksTheTimerOfTheApplication() {
    runner
        .withBean(DurableTimer.class, () -> DurableTimer.builder(store).start())
        .run(context -> assertThat(status(context)).isEqualTo("UP"));
  }

  @Test
  void canBeSwitchedOff() {
    runner
        .withPropertyValues("management.health.timewheel.enabled=false")
        .run(context -> assertThat(context).doesNotHaveBean("timewheelHealthIndicator"));
  }

  @Test
  void isNotThereWithoutActuator() {
    runner
        .withClassLoader(
            new FilteredClassLoader(
                "org.springframework.boot.health", "org.springframework.boot.actuate"))
        .run(
            context ->
                assertThat(context).hasNotFailed().doesNotHaveBean("timewheelHealthIndicator"));
  }
}
