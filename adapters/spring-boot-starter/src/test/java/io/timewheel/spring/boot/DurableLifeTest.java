// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.TimerStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/** Tests the creation of the durable timer, its start and its stop. */
class DurableLifeTest {
  private static final List<String> EVENTS = new CopyOnWriteArrayList<>();

  private final InMemoryTimerStore data = InMemoryTimerStore.create();

  private final ApplicationContextRunner empty =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  TimewheelAutoConfiguration.class,
                  TimewheelDurableAutoConfiguration.class,
                  TimewheelDurableHealthAutoConfiguration.class));

  private final ApplicationContextRunner runner =
      empty.withBean(
          "store",
          TimerStore.class,
          () -> {
            EVENTS.clear();
            EVENTS.add("opened");
            return reporting(data);
          },
          definition -> definition.setLazyInit(true));

  /** Returns the store, with an event for each call that begins or ends its session. */
  private static TimerStore reporting(TimerStore store) {
    return (TimerStore)
        Proxy.newProxyInstance(
            TimerStore.class.getClassLoader(),
            new Class<?>[] {TimerStore.class},
            (proxy, method, arguments) -> {
              boolean again = EVENTS.contains("close"); // Spring closes the store a second time
              if (Set.of("start", "close").contains(method.getName()) && !again) {
                EVENTS.add(method.getName());
              }
              try {
                return method.invoke(store, arguments);
              } catch (InvocationTargetException e) {
                throw e.getTargetException();
              }
            });
  }

  private TimerState state(String id) {
    return data.reopen().get(new TimerKey("shop", id)).state();
  }

  private static TimerSpec spec(String id) {
    return TimerSpec.of("shop", id).handler("h").after(Duration.ZERO);
  }

  // Creation

  @Test
  void nothingIsOpenedUnlessRequested() {
    EVENTS.clear();
    runner.run(
        context -> {
          assertThat(context).hasNotFailed();
          assertThat(EVENTS).isEmpty();

          context.getBean(DurableTimer.class);
          assertThat(EVENTS).containsExactly("opened", "start");
        });
  }

  @Test
  void customizerRequestsTheTimer() {
    runner
        .withBean(DurableTimerCustomizer.class, () -> builder -> EVENTS.add("customized"))
        .run(context -> assertThat(EVENTS).containsExactly("opened", "customized", "start"));
  }

  @Test
  void canBeSwitchedOff() {
    EVENTS.clear();
    runner
        .withBean(Handling.class)
        .withPropertyValues("timewheel.durable.enabled=false")
        .run(
            context -> {
              assertThat(context).hasNotFailed().doesNotHaveBean(DurableTimer.class);
              assertThat(EVENTS).isEmpty();
            });
  }

  @Test
  void nothingIsConfiguredWithoutItsModule() {
    empty
        .withClassLoader(new FilteredClassLoader("io.timewheel.durable"))
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .hasSingleBean(Workers.class)
                    .doesNotHaveBean("timewheelDurableTimers"));
  }

  @Test
  void timerOfTheApplicationReplacesIt() {
    empty
        .withUserConfiguration(OnTimerRefusalTest.OwnTimer.class)
        .withBean(InMemoryTimerStore.class, InMemoryTimerStore::create)
        .run(context -> assertThat(context).hasNotFailed().hasSingleBean(DurableTimer.class));
  }

  // Start

  @Test
  void acceptsTimersAtOnceAndFiresThemWhenTheContextIsRefreshed() {
    runner
        .withBean(Handling.class)
        .withUserConfiguration(Eager.class)
        .run(
            context -> {
              assertThat(EVENTS).containsExactly("opened", "scheduled", "all is started", "start");
              assertThat(context.getBean(Handling.class).next()).isEqualTo("early");
            });
  }

  @Test
  void aStartThatFailsFiresNothing() {
    runner
        .withBean(Handling.class)
        .withUserConfiguration(Eager.class)
        .withUserConfiguration(PortInUse.class)
        .run(
            context -> {
              assertThat(context).getFailure().rootCause().hasMessage("port in use");
              assertThat(EVENTS).contains("scheduled", "close").doesNotContain("start");
              assertThat(state("early")).isEqualTo(TimerState.SCHEDULED);
            });
  }

  @Test
  void aStoreThatCannotBeOpenedEndsTheStart() {
    empty
        .withBean(Handling.class)
        .withBean(
            TimerStore.class,
            () -> {
              throw new IllegalStateException("in use by another process");
            },
            definition -> definition.setLazyInit(true))
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .hasMessage("in use by another process"));
  }

  @Test
  void continuesInAContextThatIsStoppedAndRestarted() {
    runner
        .withBean(Handling.class)
        .run(
            context -> {
              ConfigurableApplicationContext stoppable = context.getSourceApplicationContext();
              stoppable.stop();
              stoppable.start();

              context.getBean(DurableTimer.class).schedule(spec("later"));
              assertThat(context.getBean(Handling.class).next()).isEqualTo("later");
            });
  }

  // Stop

  @Test
  void runningAttemptsEndBeforeTheirBeansAreDestroyed() {
    runner
        .withUserConfiguration(Draining.class)
        .withPropertyValues("timewheel.shutdown-timeout=1h")
        .run(
            context -> {
              context.getBean(DurableTimer.class).schedule(spec("running"));
              Eventually.zero(context.getBean(Slow.class).begun);
              EVENTS.clear();
            });

    assertThat(EVENTS)
        .containsExactly("listener stopped", "the tool is there", "close", "the tool is destroyed");
    assertThat(state("running")).isEqualTo(TimerState.COMPLETED);
    assertThat(state("last minute")).isNotEqualTo(TimerState.CANCELLED);
  }

  @Test
  void interruptedAttemptsFireAgainAfterTheNextStart() {
    runner
        .withBean(Stuck.class)
        .withPropertyValues("timewheel.shutdown-timeout=0s")
        .run(
            context -> {
              context.getBean(DurableTimer.class).schedule(spec("stuck"));
              Eventually.zero(context.getBean(Stuck.class).begun);
            });
    assertThat(state("stuck")).isNotEqualTo(TimerState.COMPLETED);

    empty
        .withBean(TimerStore.class, data::reopen)
        .withBean(Handling.class)
        .run(context -> assertThat(context.getBean(Handling.class).next()).isEqualTo("stuck"));
  }

  @Test
  void refusesTimersOnceTheContextIsClosed() {
    DurableTimer[] timer = new DurableTimer[1];
    runner.run(context -> timer[0] = context.getBean(DurableTimer.class));

    assertThatThrownBy(() -> timer[0].schedule(spec("too late")))
        .isInstanceOf(IllegalStateException.class);
  }

  static class Handling {
    private final BlockingQueue<String> handled = new LinkedBlockingQueue<>();

    /** Returns the next event of a handler; null after a minute without any. */
    String next() throws InterruptedException {
      return handled.poll(1, TimeUnit.MINUTES);
    }

    @OnTimer("h")
    void on(Firing firing) {
      handled.add(firing.id());
    }
  }

  /**
   * An application that schedules timers while beans are created, and has a bean that starts last.
   */
  @Configuration(proxyBeanMethods = false)
  static class Eager {
    Eager(DurableTimer scheduler) {
      scheduler.schedule(spec("early"));
      EVENTS.add("scheduled");
    }

    @Bean
    Last last() {
      return new Last(Integer.MAX_VALUE - 1, () -> EVENTS.add("all is started"), () -> {});
    }
  }

  /** A lifecycle bean that fails to start, like a web server whose port is taken. */
  @Configuration(proxyBeanMethods = false)
  static class PortInUse {
    @Bean
    Last failing() {
      return new Last(
          Integer.MAX_VALUE,
          () -> {
            throw new IllegalStateException("port in use");
          },
          () -> {});
    }
  }

  /**
   * A slow handler, a bean that it needs, and a listener that schedules timers until the context is
   * closed.
   */
  @Configuration(proxyBeanMethods = false)
  static class Draining {
    @Bean
    Slow slow(@Lazy Tool tool) {
      return new Slow(tool);
    }

    @Bean
    Tool tool() {
      return new Tool();
    }

    @Bean
    Last listener(DurableTimer scheduler, Slow slow) {
      return new Last(
          Integer.MAX_VALUE,
          () -> {},
          () -> {
            scheduler.schedule(
                TimerSpec.of("shop", "last minute").handler("h").after(Duration.ofDays(1)));
            EVENTS.add("listener stopped");
            slow.release.countDown();
          });
    }
  }

  static class Tool implements DisposableBean {
    void use() {
      EVENTS.add("the tool is there");
    }

    @Override
    public void destroy() {
      EVENTS.add("the tool is destroyed");
    }
  }

  static class Slow {
    final CountDownLatch begun = new CountDownLatch(1);
    final CountDownLatch release = new CountDownLatch(1);
    private final Tool tool;

    Slow(Tool tool) {
      this.tool = tool;
    }

    @OnTimer("h")
    void on() throws InterruptedException {
      begun.countDown();
      release.await();
      tool.use();
    }
  }

  static class Stuck {
    final CountDownLatch begun = new CountDownLatch(1);

    @OnTimer("h")
    void on() throws InterruptedException {
      begun.countDown();
      new CountDownLatch(1).await();
    }
  }

  static final class Last implements SmartLifecycle {
    private final int phase;
    private final Runnable start;
    private final Runnable stop;
    private volatile boolean running;

    Last(int phase, Runnable start, Runnable stop) {
      this.phase = phase;
      this.start = start;
      this.stop = stop;
    }

    @Override
    public void start() {
      start.run();
      running = true;
    }

    @Override
    public void stop() {
      stop.run();
      running = false;
    }

    @Override
    public boolean isRunning() {
      return running;
    }

    @Override
    public int getPhase() {
      return phase;
    }
  }
}
