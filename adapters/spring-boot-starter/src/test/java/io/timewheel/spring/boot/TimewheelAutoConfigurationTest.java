// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.timewheel.HierarchicalWheelTimer;
import io.timewheel.TaskErrorHandler;
import io.timewheel.Timeout;
import io.timewheel.Timer;
import io.timewheel.TimerTask;
import io.timewheel.concurrent.WheelScheduledExecutor;
import io.timewheel.testkit.ManualTimeSource;
import io.timewheel.testkit.ManualTimer;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.SynchronousQueue;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.Trigger;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.concurrent.ConcurrentTaskScheduler;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/** Tests the beans, their properties, and their conditions. */
@SuppressWarnings("FutureReturnValueIgnored") // the task itself signals that it ran
class TimewheelAutoConfigurationTest {
  private static final TimerTask NOTHING = timeout -> {};

  private final ApplicationContextRunner runner =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  TimewheelMetricsAutoConfiguration.class,
                  TaskSchedulingAutoConfiguration.class,
                  TaskExecutionAutoConfiguration.class,
                  TimewheelAutoConfiguration.class));

  @Test
  void timerAndSchedulerNeedNoSettings() {
    runner.run(
        context -> {
          assertThat(context).hasSingleBean(HierarchicalWheelTimer.class);
          assertThat(context.getBean(Timer.class)).hasToString("HierarchicalWheelTimer(timewheel)");
          assertThat(context.getBean(TaskScheduler.class))
              .isInstanceOf(ConcurrentTaskScheduler.class);
        });
  }

  @Test
  void springBootStillMakesItsExecutorForAsync() {
    runner.run(context -> assertThat(context).hasBean("applicationTaskExecutor"));
  }

  @Test
  void worksWithoutMicrometer() {
    runner
        .withClassLoader(new FilteredClassLoader("io.micrometer"))
        .run(
            context -> {
              assertThat(context).hasNotFailed().hasSingleBean(Timer.class);
              assertThat(context).doesNotHaveBean(TimewheelMetricsAutoConfiguration.class);
            });
  }

  // Properties

  @Test
  void takesNameAndLimitFromTheProperties() {
    runner
        .withPropertyValues("timewheel.name=requests", "timewheel.max-pending-timeouts=2")
        .run(
            context -> {
              Timer timer = context.getBean(Timer.class);
              assertThat(timer).hasToString("HierarchicalWheelTimer(requests)");

              timer.newTimeout(NOTHING, 1, HOURS);
              timer.newTimeout(NOTHING, 1, HOURS);

              assertThatExceptionOfType(RejectedExecutionException.class)
                  .isThrownBy(() -> timer.newTimeout(NOTHING, 1, HOURS))
                  .withMessageContaining("2");

              // A cron method whose next run is refused would never run again.
              CountDownLatch runs = new CountDownLatch(3);
              context
                  .getBean(TaskScheduler.class)
                  .schedule(runs::countDown, (Trigger) last -> Instant.now());
              Eventually.zero(runs);
            });
  }

  @Test
  void takesTickFromTheProperties() {
    runner
        .withUserConfiguration(ManualTime.class)
        .withPropertyValues("timewheel.tick=1h", "timewheel.name=slow-tick")
        .run(
            context -> {
              ManualTimeSource clock = context.getBean(ManualTimeSource.class);
              CountDownLatch ran = new CountDownLatch(1);
              Timeout timeout =
                  context
                      .getBean(Timer.class)
                      .newTimeout(expired -> ran.countDown(), 1, MILLISECONDS);
              Thread worker = theOneNamed("slow-tick");

              clock.advanceBy(Duration.ofMinutes(59));
              clock.awaitParked(worker);
              assertThat(timeout.isExpired()).isFalse();

              clock.advanceBy(Duration.ofMinutes(1));
              Eventually.zero(ran);
            });
  }

  @Test
  void withOneStripeTimeoutsOfATickRunInOrder() {
    runner
        .withUserConfiguration(ManualTime.class)
        .withPropertyValues("timewheel.stripes=1", "timewheel.worker-threads=1")
        .run(
            context -> {
              Timer timer = context.getBean(Timer.class);
              BlockingQueue<Integer> order = new ArrayBlockingQueue<>(40);
              for (int i = 0; i < 40; i++) {
                int number = i;
                Thread starter =
                    new Thread(
                        () -> timer.newTimeout(timeout -> order.add(number), 1, MILLISECONDS));
                starter.start();
                starter.join();
              }
              context.getBean(ManualTimeSource.class).advanceBy(Duration.ofMillis(1));

              for (int i = 0; i < 40; i++) {
                assertThat(order.take()).isEqualTo(i);
              }
            });
  }

  // Threads

  @Test
  void tasksRunOffTheTimerThread() {
    runner
        .withPropertyValues("timewheel.name=pool")
        .run(
            context -> {
              Thread ofTimer = threadOfATimeout(context.getBean(Timer.class));
              Thread ofScheduler = threadOfASchedule(context.getBean(TaskScheduler.class));

              assertThat(ofTimer.getName()).startsWith("pool-worker-");
              assertThat(ofScheduler.getName()).startsWith("pool-worker-");
              assertThat(ofTimer.isDaemon()).isTrue();
              assertThat(isVirtual(ofTimer)).isFalse();
            });
  }

  @Test
  void usesVirtualThreadsIfEnabledAndAvailable() {
    assumeTrue(Runtime.version().feature() >= 21, "this JVM has no virtual threads");
    runner
        .withPropertyValues("spring.threads.virtual.enabled=true", "timewheel.name=virtual")
        .run(
            context -> {
              Thread ofTimer = threadOfATimeout(context.getBean(Timer.class));
              Thread ofScheduler = threadOfASchedule(context.getBean(TaskScheduler.class));

              assertThat(isVirtual(ofTimer)).isTrue();
              assertThat(isVirtual(ofScheduler)).isTrue();
              assertThat(ofTimer.getName()).startsWith("virtual-worker-");
            });
  }

  @Test
  void usesThePoolOnAJvmWithoutVirtualThreads() {
    assumeTrue(Runtime.version().feature() < 21, "this JVM has virtual threads");
    runner
        .withPropertyValues("spring.threads.virtual.enabled=true", "timewheel.name=early")
        .run(
            context ->
                assertThat(threadOfATimeout(context.getBean(Timer.class)).getName())
                    .startsWith("early-worker-"));
  }

  @Test
  void slowTasksDelayNeitherTimerNorSchedulerWhileAThreadIsFree() {
    runner
        .withPropertyValues("timewheel.worker-threads=2")
        .run(
            context -> {
              CountDownLatch release = new CountDownLatch(1);
              context.getBean(Timer.class).newTimeout(timeout -> release.await(), 1, MILLISECONDS);

              threadOfATimeout(context.getBean(Timer.class));
              threadOfASchedule(context.getBean(TaskScheduler.class));
              release.countDown();
            });
  }

  @Test
  void applicationSchedulerThatRunsInPlaceIsOffTheTimerThreadToo() {
    runner
        .withUserConfiguration(ManualTime.class)
        .withPropertyValues("timewheel.name=own")
        .run(
            context -> {
              BlockingQueue<Thread> thread = new ArrayBlockingQueue<>(1);
              ScheduledExecutorService inPlace =
                  WheelScheduledExecutor.builder()
                      .timer(context.getBean(Timer.class))
                      .executor(Runnable::run)
                      .build();
              inPlace.schedule(() -> thread.add(Thread.currentThread()), 1, MILLISECONDS);
              context.getBean(ManualTimeSource.class).advanceBy(Duration.ofMillis(1));

              assertThat(thread.take().getName()).startsWith("own-worker-");
            });
  }

  // Replaced beans

  @Test
  void applicationTimerReplacesOursAndServesTheScheduler() {
    runner
        .withUserConfiguration(OwnTimer.class)
        .run(
            context -> {
              ManualTimer timer = context.getBean(ManualTimer.class);
              assertThat(context).hasSingleBean(Timer.class);
              CountDownLatch ran = new CountDownLatch(1);
              context
                  .getBean(TaskScheduler.class)
                  .schedule(ran::countDown, Instant.now().plusSeconds(3600));

              assertThat(timer.pendingTimeouts()).isEqualTo(1);
              timer.advanceBy(Duration.ofHours(1));
              Eventually.zero(ran);
            });
  }

  @Test
  void withSeveralTimersSpringBootSchedulesByItself() {
    runner
        .withUserConfiguration(OwnTimer.class, SecondTimer.class, Scheduling.class)
        .run(
            context ->
                assertThat(context.getBean(TaskScheduler.class))
                    .isInstanceOf(ThreadPoolTaskScheduler.class));
  }

  @Test
  void applicationSchedulerReplacesOurs() {
    runner
        .withUserConfiguration(OwnScheduler.class)
        .run(
            context -> {
              assertThat(context).hasSingleBean(TaskScheduler.class).hasSingleBean(Timer.class);
              assertThat(context.getBean(TaskScheduler.class))
                  .isInstanceOf(SimpleAsyncTaskScheduler.class);
            });
  }

  @Test
  void applicationScheduledExecutorReplacesOurs() {
    runner
        .withUserConfiguration(OwnScheduledExecutor.class)
        .run(context -> assertThat(context).doesNotHaveBean(TaskScheduler.class));
  }

  @Test
  void schedulerCanBeSwitchedOff() {
    ApplicationContextRunner off = runner.withPropertyValues("timewheel.scheduler.enabled=false");

    off.run(
        context ->
            assertThat(context).doesNotHaveBean(TaskScheduler.class).hasSingleBean(Timer.class));
    off.withUserConfiguration(Scheduling.class)
        .run(
            context ->
                assertThat(context.getBean(TaskScheduler.class))
                    .isInstanceOf(ThreadPoolTaskScheduler.class));
  }

  @Test
  void errorsGoToTheHandlerBean() {
    runner
        .withUserConfiguration(OwnErrorHandler.class)
        .run(
            context -> {
              context
                  .getBean(Timer.class)
                  .newTimeout(
                      timeout -> {
                        throw new IllegalStateException("on purpose");
                      },
                      1,
                      MILLISECONDS);

              assertThat(context.getBean(OwnErrorHandler.class).errors.take())
                  .hasMessage("on purpose");
            });
  }

  private static Thread threadOfATimeout(Timer timer) throws InterruptedException {
    SynchronousQueue<Thread> thread = new SynchronousQueue<>();
    timer.newTimeout(timeout -> thread.put(Thread.currentThread()), 1, MILLISECONDS);
    return thread.take();
  }

  private static Thread threadOfASchedule(TaskScheduler scheduler) throws InterruptedException {
    BlockingQueue<Thread> thread = new ArrayBlockingQueue<>(1);
    scheduler.schedule(
        () -> thread.add(Thread.currentThread()), Instant.now().plus(Duration.ofMillis(20)));
    return thread.take();
  }

  private static boolean isVirtual(Thread thread) throws ReflectiveOperationException {
    return Runtime.version().feature() >= 21
        && (Boolean) Thread.class.getMethod("isVirtual").invoke(thread);
  }

  private static Thread theOneNamed(String name) {
    return Eventually.threadsNamed(name).stream()
        .filter(thread -> thread.getName().equals(name))
        .findAny()
        .orElseThrow();
  }

  @Configuration(proxyBeanMethods = false)
  static class ManualTime {
    @Bean
    ManualTimeSource clock() {
      return new ManualTimeSource();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class OwnTimer {
    @Bean
    ManualTimer timer() {
      return ManualTimer.create();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class SecondTimer {
    @Bean
    ManualTimer secondTimer() {
      return ManualTimer.create();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableScheduling
  static class Scheduling {}

  @Configuration(proxyBeanMethods = false)
  static class OwnScheduler {
    @Bean
    SimpleAsyncTaskScheduler mine() {
      return new SimpleAsyncTaskScheduler();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class OwnScheduledExecutor {
    @Bean
    ScheduledExecutorService mine() {
      return Executors.newSingleThreadScheduledExecutor();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class OwnErrorHandler {
    final BlockingQueue<Throwable> errors = new ArrayBlockingQueue<>(1);

    @Bean
    TaskErrorHandler onError() {
      return (timeout, error) -> errors.add(error);
    }
  }
}
