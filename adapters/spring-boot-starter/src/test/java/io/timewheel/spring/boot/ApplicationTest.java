// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.MeterRegistry;
import io.timewheel.Timeout;
import io.timewheel.Timer;
import io.timewheel.TimerListener;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.support.PeriodicTrigger;

/** Tests whole applications, with Spring Boot's default configuration. */
@ExtendWith(OutputCaptureExtension.class)
class ApplicationTest {
  private static ConfigurableApplicationContext run(Class<?> application, String... arguments) {
    return new SpringApplicationBuilder(application)
        .web(WebApplicationType.NONE)
        .bannerMode(Banner.Mode.OFF)
        .logStartupInfo(false)
        .run(arguments);
  }

  // @Scheduled

  @Test
  @SuppressWarnings("FutureReturnValueIgnored") // the task itself signals that it ran
  void scheduledMethodsRunOnTheWheel() throws InterruptedException {
    try (ConfigurableApplicationContext context = run(Scheduling.class)) {
      Scheduling application = context.getBean(Scheduling.class);

      Eventually.zero(application.fixedRate);
      Eventually.zero(application.fixedDelay);
      context
          .getBean(TaskScheduler.class)
          .schedule(application::withATrigger, new PeriodicTrigger(Duration.ofMillis(1)));
      Eventually.zero(application.trigger);
      assertThat(application.elsewhere).hasValue(0);
      assertThat(context.getBean(Timer.class).stats().expired())
          .as("the waits of the fixed delay, none of which can be missed")
          .isGreaterThanOrEqualTo(2);
    }
  }

  // Metrics

  @Test
  void timerMetersAreInTheRegistryOfTheApplication() throws InterruptedException {
    try (ConfigurableApplicationContext context = run(Plain.class, "--timewheel.name=requests")) {
      Timer timer = context.getBean(Timer.class);
      CountDownLatch ran = new CountDownLatch(1);
      for (int i = 0; i < 3; i++) {
        timer.newTimeout(timeout -> {}, 1, HOURS);
      }
      timer.newTimeout(timeout -> ran.countDown(), 1, MILLISECONDS);
      Eventually.zero(ran);

      MeterRegistry registry = context.getBean(MeterRegistry.class);
      assertThat(registry.get("timewheel.pending").tag("timer", "requests").gauge().value())
          .isEqualTo(3);
      assertThat(registry.get("timewheel.lag").tag("timer", "requests").timer().count())
          .isEqualTo(1);
    }
  }

  @Test
  void timerAndRegistryCanBeLazy() throws InterruptedException {
    try (ConfigurableApplicationContext context =
        run(Plain.class, "--spring.main.lazy-initialization=true")) {
      CountDownLatch ran = new CountDownLatch(1);
      context.getBean(Timer.class).newTimeout(timeout -> ran.countDown(), 1, MILLISECONDS);
      Eventually.zero(ran);

      assertThat(
              context
                  .getBean(MeterRegistry.class)
                  .get("timewheel.expired")
                  .functionCounter()
                  .count())
          .isEqualTo(1);
    }
  }

  @Test
  void applicationListenerReplacesLagMetrics() throws InterruptedException {
    try (ConfigurableApplicationContext context = run(Listening.class)) {
      context.getBean(Timer.class).newTimeout(timeout -> {}, 1, MILLISECONDS);

      Eventually.zero(context.getBean(Listening.class).expired);
      assertThat(context.getBean(MeterRegistry.class).find("timewheel.lag").timer()).isNull();
    }
  }

  // Wrong properties

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          timewheel.tick           | 0s     | tick: PT0S (expected: more than zero, at most PT24H)
          timewheel.tick           | 25h    | tick: PT25H (expected: more than zero, at most PT24H)
          timewheel.tick           | often  | is not a valid duration
          timewheel.stripes        | 0      | stripes: 0 (expected: 1 to 256)
          timewheel.worker-threads | 0      | expected: at least 1
          """)
  void reportsAnInvalidPropertyWithNameAndExpectation(
      String property, String value, String expected, CapturedOutput output) {
    assertThatThrownBy(() -> run(Plain.class, "--" + property + "=" + value).close())
        .isInstanceOf(Exception.class);

    assertThat(output)
        .contains("APPLICATION FAILED TO START", property, value, expected)
        .contains("commandLineArgs");
  }

  @EnableAutoConfiguration
  @Configuration(proxyBeanMethods = false)
  static class Plain {}

  @EnableAutoConfiguration
  @EnableScheduling
  @Configuration(proxyBeanMethods = false)
  static class Scheduling {
    final CountDownLatch fixedRate = new CountDownLatch(3);
    final CountDownLatch fixedDelay = new CountDownLatch(3);
    final CountDownLatch trigger = new CountDownLatch(3);
    final AtomicInteger elsewhere = new AtomicInteger();

    @Scheduled(fixedRate = 1)
    void atAFixedRate() {
      ran(fixedRate);
    }

    @Scheduled(fixedDelay = 1)
    void withAFixedDelay() {
      ran(fixedDelay);
    }

    /** A trigger, like that of a cron expression, which cannot express less than a second. */
    void withATrigger() {
      ran(trigger);
    }

    private void ran(CountDownLatch latch) {
      if (!Thread.currentThread().getName().startsWith("timewheel-worker-")) {
        elsewhere.incrementAndGet();
      }
      latch.countDown();
    }
  }

  @EnableAutoConfiguration
  @Configuration(proxyBeanMethods = false)
  static class Listening {
    final CountDownLatch expired = new CountDownLatch(1);

    @Bean
    TimerListener listener() {
      return new TimerListener() {
        @Override
        public void expired(Timeout timeout, long lagNanos) {
          expired.countDown();
        }
      };
    }
  }
}
