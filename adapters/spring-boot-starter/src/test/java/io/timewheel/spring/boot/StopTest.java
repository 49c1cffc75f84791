// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.Timeout;
import io.timewheel.Timer;
import io.timewheel.testkit.ManualTimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.TaskRejectedException;
import org.springframework.scheduling.TaskScheduler;

/** Tests how timer, scheduler and threads stop when the context closes. */
@SuppressWarnings("FutureReturnValueIgnored") // the task itself signals how it ends
class StopTest {
  private static ConfigurableApplicationContext run(Class<?> application, String... arguments) {
    return new SpringApplicationBuilder(application)
        .web(WebApplicationType.NONE)
        .bannerMode(Banner.Mode.OFF)
        .logStartupInfo(false)
        .run(arguments);
  }

  @Test
  void runningTasksMayEndAndNewOnesAreRefused() throws InterruptedException {
    ConfigurableApplicationContext context =
        run(Plain.class, "--timewheel.name=graceful", "--timewheel.shutdown-timeout=1h");
    Timer timer = context.getBean(Timer.class);
    TaskScheduler scheduler = context.getBean(TaskScheduler.class);
    Task ofTimer = new Task();
    Task ofScheduler = new Task();
    timer.newTimeout(timeout -> ofTimer.run(), 1, MILLISECONDS);
    scheduler.schedule(ofScheduler, Instant.now());
    Timeout pending = timer.newTimeout(timeout -> {}, 1, HOURS);
    ScheduledFuture<?> waiting = scheduler.schedule(() -> {}, Instant.now().plusSeconds(3600));
    Eventually.zero(ofTimer.begun);
    Eventually.zero(ofScheduler.begun);

    Thread closer = new Thread(context::close);
    closer.start();
    Eventually.holds("the timer to refuse timeouts", () -> isRefusing(timer));

    assertThatExceptionOfType(TaskRejectedException.class)
        .isThrownBy(() -> scheduler.schedule(() -> {}, Instant.now()));
    assertThat(waiting.isCancelled()).isTrue();
    ofTimer.release.countDown();
    ofScheduler.release.countDown();
    Eventually.ended(closer);
    assertThat(pending.isCancelled()).isTrue();
    assertThat(ofTimer.end).hasValue("returned");
    assertThat(ofScheduler.end).hasValue("returned");
    Eventually.noThreadNamed("graceful");
  }

  @Test
  void interruptsStuckTasksAndCancelsWaitingOnes() throws InterruptedException {
    ConfigurableApplicationContext context =
        run(
            Plain.class,
            "--timewheel.name=stuck",
            "--timewheel.shutdown-timeout=0s",
            "--timewheel.worker-threads=1");
    TaskScheduler scheduler = context.getBean(TaskScheduler.class);
    Task stuck = new Task();
    scheduler.schedule(stuck, Instant.now());
    Eventually.zero(stuck.begun);
    ScheduledFuture<?> neverBegun = scheduler.schedule(() -> {}, Instant.now());

    context.close();

    Eventually.noThreadNamed("stuck");
    assertThat(stuck.end).hasValue("interrupted");
    assertThat(neverBegun.isCancelled()).isTrue();
  }

  @Test
  void cancelsOrCountsExpiredTasksThatHaveNotBegun() throws InterruptedException {
    ConfigurableApplicationContext context =
        run(
            ManualTime.class,
            "--timewheel.name=full",
            "--timewheel.shutdown-timeout=0s",
            "--timewheel.worker-threads=1");
    Timer timer = context.getBean(Timer.class);
    TaskScheduler scheduler = context.getBean(TaskScheduler.class);
    Task stuck = new Task();
    scheduler.schedule(stuck, Instant.now());
    Eventually.zero(stuck.begun);
    timer.newTimeout(timeout -> {}, 1, MILLISECONDS);
    timer.newTimeout(timeout -> {}, 1, MILLISECONDS);
    ScheduledFuture<?> neverBegun = scheduler.schedule(() -> {}, Instant.now().plusSeconds(3600));
    context.getBean(ManualTimeSource.class).advanceBy(Duration.ofHours(1));
    Eventually.holds("all to expire", () -> timer.stats().expired() == 3);

    List<String> log = Log.of(context::close);

    Eventually.noThreadNamed("full");
    assertThat(neverBegun.isCancelled()).isTrue();
    assertThat(log).contains("2 tasks have not begun and are dropped");
  }

  @Test
  void interruptEndsTheShutdownTimeout() throws InterruptedException {
    ConfigurableApplicationContext context =
        run(Plain.class, "--timewheel.name=hurried", "--timewheel.shutdown-timeout=1h");
    Timer timer = context.getBean(Timer.class);
    Task stuck = new Task();
    timer.newTimeout(timeout -> stuck.run(), 1, MILLISECONDS);
    Eventually.zero(stuck.begun);

    List<String> log = new CopyOnWriteArrayList<>();
    Thread closer = new Thread(() -> log.addAll(Log.of(context::close)));
    closer.start();
    Eventually.holds("the timer to refuse timeouts", () -> isRefusing(timer));
    closer.interrupt();

    Eventually.ended(closer);
    Eventually.noThreadNamed("hurried");
    assertThat(stuck.end).hasValue("interrupted");
    assertThat(log)
        .containsExactly(
            "1 tasks have not ended and are interrupted; timewheel.shutdown-timeout is PT1H");
  }

  @Test
  void beansThatStopFirstStillHaveATimer() {
    ConfigurableApplicationContext context = run(Draining.class);

    context.close();

    assertThat(Draining.drained.getAndSet(null)).isEqualTo("with the help of a timeout");
  }

  @Test
  void restartedContextKeepsItsTimer() throws InterruptedException {
    try (ConfigurableApplicationContext context = run(Plain.class)) {
      context.stop();
      context.start();

      Task task = new Task();
      task.release.countDown();
      context.getBean(Timer.class).newTimeout(timeout -> task.run(), 1, MILLISECONDS);
      Eventually.zero(task.begun);
    }
  }

  @Test
  void failedContextLeavesNoThread() throws InterruptedException {
    assertThatThrownBy(() -> run(Failing.class, "--timewheel.name=failing").close())
        .hasRootCauseMessage("on purpose");

    Eventually.noThreadNamed("failing");
  }

  private static boolean isRefusing(Timer timer) {
    try {
      timer.newTimeout(timeout -> {}, 1, HOURS).cancel();
      return false;
    } catch (IllegalStateException e) {
      return true;
    }
  }

  /** Runs until it is released. */
  private static final class Task implements Runnable {
    final CountDownLatch begun = new CountDownLatch(1);
    final CountDownLatch release = new CountDownLatch(1);
    final AtomicReference<String> end = new AtomicReference<>("none");

    @Override
    public void run() {
      begun.countDown();
      try {
        release.await();
        end.set("returned");
      } catch (InterruptedException e) {
        end.set("interrupted");
      }
    }
  }

  @EnableAutoConfiguration
  @Configuration(proxyBeanMethods = false)
  static class Plain {}

  @EnableAutoConfiguration
  @Configuration(proxyBeanMethods = false)
  static class ManualTime {
    @Bean
    ManualTimeSource clock() {
      return new ManualTimeSource();
    }
  }

  @EnableAutoConfiguration
  @Configuration(proxyBeanMethods = false)
  static class Failing {
    @Bean
    Object failing(Timer timer, TaskScheduler scheduler) {
      timer.newTimeout(timeout -> {}, 1, HOURS);
      scheduler.schedule(() -> {}, Instant.now());
      throw new IllegalStateException("on purpose");
    }
  }

  /** An application with a bean that stops in Spring's default phase. */
  @EnableAutoConfiguration
  @Configuration(proxyBeanMethods = false)
  static class Draining {
    static final AtomicReference<String> drained = new AtomicReference<>();

    @Bean
    SmartLifecycle drain(Timer timer) {
      return new SmartLifecycle() {
        private volatile boolean running;

        @Override
        public void start() {
          running = true;
        }

        @Override
        public void stop() {
          CountDownLatch ran = new CountDownLatch(1);
          timer.newTimeout(timeout -> ran.countDown(), 1, MILLISECONDS);
          try {
            Eventually.zero(ran);
            drained.set("with the help of a timeout");
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          running = false;
        }

        @Override
        public boolean isRunning() {
          return running;
        }
      };
    }
  }
}
