// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerState;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;

/** Tests methods as handlers: their arguments, and how they are found. */
class OnTimerTest {
  private static final OrderRef ORDER = new OrderRef(42, Instant.parse("2026-11-22T10:00:00.123Z"));

  /** The methods that were called, with their arguments. */
  private static final BlockingQueue<Object> CALLED = new LinkedBlockingQueue<>();

  /** A context with Spring Boot's default configuration, which includes Jackson. */
  private final ApplicationContextRunner application =
      new ApplicationContextRunner()
          .withUserConfiguration(Application.class)
          .withBean(InMemoryTimerStore.class, InMemoryTimerStore::create);

  /** A context with only this starter. */
  private final ApplicationContextRunner runner =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  TimewheelAutoConfiguration.class, TimewheelDurableAutoConfiguration.class))
          .withBean(InMemoryTimerStore.class, InMemoryTimerStore::create);

  record OrderRef(long number, Instant placed) {}

  @BeforeEach
  void forget() {
    CALLED.clear();
    Once.MADE.set(0);
  }

  private static TimerSpec spec(String handler) {
    return TimerSpec.of("shop", "order-42")
        .after(Duration.ZERO)
        .handler(handler)
        .retry(new RetryPolicy(1, Duration.ofSeconds(1), Duration.ofSeconds(1)));
  }

  private static Object called() throws InterruptedException {
    return CALLED.poll(1, TimeUnit.MINUTES);
  }

  // Arguments

  @Test
  void methodsTakeThePayloadAndTheFiringInAnyOrder() {
    application
        .withBean(Shapes.class)
        .run(
            context -> {
              DurableTimer scheduler = context.getBean(DurableTimer.class);

              scheduler.schedule(spec("payload.firing").payload(ORDER));
              assertThat(called()).isEqualTo(List.of(ORDER, "order-42"));
              scheduler.schedule(spec("firing.payload").payload(ORDER));
              assertThat(called()).isEqualTo(List.of("order-42", ORDER));
              scheduler.schedule(spec("payload").payload(ORDER));
              assertThat(called()).isEqualTo(ORDER);
              scheduler.schedule(spec("firing"));
              assertThat(called()).isEqualTo("order-42");
              scheduler.schedule(spec("nothing"));
              assertThat(called()).isEqualTo("nothing");
              scheduler.schedule(spec("bytes").payload("as they are".getBytes(UTF_8)));
              assertThat(called()).isEqualTo("as they are");
            });
  }

  @Test
  void payloadIsTheJsonOfTheApplication() {
    application
        .withBean(Shapes.class)
        .run(
            context -> {
              context.getBean(DurableTimer.class).schedule(spec("bytes").payload(ORDER));

              assertThat((String) called())
                  .contains("\"number\":42", "\"placed\":\"2026-11-22T10:00:00.123Z\"");
            });
  }

  @Test
  void unreadablePayloadFailsWithTheReason() {
    application
        .withBean(Shapes.class)
        .run(
            context -> {
              DurableTimer scheduler = context.getBean(DurableTimer.class);

              scheduler.schedule(spec("payload").payload("{\"number\":\"many\"}".getBytes(UTF_8)));
              assertThat(errorOf(scheduler))
                  .contains("cannot be read as " + OrderRef.class.getName(), "many");
              scheduler.schedule(spec("payload").payload("null".getBytes(UTF_8)));
              assertThat(errorOf(scheduler)).contains("payload: null (expected: a ");
              scheduler.schedule(spec("payload"));
              assertThat(errorOf(scheduler))
                  .contains("cannot be read as " + OrderRef.class.getName());
            });
  }

  @Test
  void exceptionOfAMethodIsTheErrorOfTheAttempt() {
    runner
        .withBean(Failing.class)
        .run(
            context -> {
              DurableTimer scheduler = context.getBean(DurableTimer.class);

              scheduler.schedule(spec("exception"));
              assertThat(errorOf(scheduler)).isEqualTo("java.lang.Exception: on purpose");
              scheduler.schedule(spec("error"));
              assertThat(errorOf(scheduler)).isEqualTo("java.lang.AssertionError: on purpose");
              scheduler.schedule(spec("stuck"));
              assertThat(errorOf(scheduler)).contains("exceeded its time limit of PT0.02S");
            });
  }

  private static String errorOf(DurableTimer scheduler) {
    Eventually.holds(
        "the timer to fail",
        () -> scheduler.timer("shop", "order-42").get().orElseThrow().state() == TimerState.FAILED);
    List<Attempt> attempts = scheduler.timer("shop", "order-42").get().orElseThrow().attempts();
    return attempts.get(attempts.size() - 1).error();
  }

  @Test
  void noMoreThanTheLimitRunAtATime() {
    runner
        .withBean(OneAtATime.class)
        .run(
            context -> {
              DurableTimer scheduler = context.getBean(DurableTimer.class);
              OneAtATime bean = context.getBean(OneAtATime.class);
              for (int i = 0; i < 20; i++) {
                scheduler.schedule(
                    TimerSpec.of("shop", "order-" + i).after(Duration.ZERO).handler("one"));
              }

              Eventually.zero(bean.all);
              assertThat(bean.most).hasValue(1);
            });
  }

  // Detection

  @Test
  void annotationCanBeComposedAndInherited() {
    runner
        .withBean(Derived.class)
        .run(
            context -> {
              context.getBean(DurableTimer.class).schedule(spec("composed"));
              assertThat(called()).isEqualTo("derived");
            });
  }

  @Test
  void adviceOfTheBeanIsApplied() {
    runner
        .withUserConfiguration(Advice.class)
        .withBean(Advised.class)
        .withBean(BehindAnInterface.class)
        .run(
            context -> {
              DurableTimer scheduler = context.getBean(DurableTimer.class);

              scheduler.schedule(spec("advised"));
              assertThat(List.of(called(), called())).isEqualTo(List.of("advice", "advised"));
              scheduler.schedule(spec("behind"));
              assertThat(List.of(called(), called())).isEqualTo(List.of("advice", "behind"));
            });
  }

  @Test
  void lazyBeanIsMadeWhenItsTimerFires() {
    runner
        .withUserConfiguration(LazyOne.class)
        .run(
            context -> {
              DurableTimer scheduler = context.getBean(DurableTimer.class);
              assertThat(Once.MADE).hasValue(0);

              scheduler.schedule(spec("once"));
              assertThat(called()).isEqualTo("object 1");
              scheduler.schedule(spec("once"));
              assertThat(called()).isEqualTo("object 1");
            });
  }

  @Test
  void scopedBeanIsResolvedForEachAttempt() {
    runner
        .withUserConfiguration(ScopedOne.class)
        .run(
            context -> {
              DurableTimer scheduler = context.getBean(DurableTimer.class);

              scheduler.schedule(spec("once"));
              assertThat(called()).isEqualTo("object 1");
              scheduler.schedule(spec("once"));
              assertThat(called()).isEqualTo("object 2");
            });
  }

  @Test
  void handlersAreFoundIfAllBeansAreLazy() {
    application
        .withBean(Shapes.class)
        .withPropertyValues("spring.main.lazy-initialization=true")
        .run(
            context -> {
              context.getBean(DurableTimer.class).schedule(spec("nothing"));
              assertThat(called()).isEqualTo("nothing");
            });
  }

  @EnableAutoConfiguration
  @Configuration(proxyBeanMethods = false)
  static class Application {}

  static class Shapes {
    @OnTimer("payload.firing")
    void both(OrderRef order, Firing firing) {
      CALLED.add(List.of(order, firing.id()));
    }

    @OnTimer("firing.payload")
    void both(Firing firing, OrderRef order) {
      CALLED.add(List.of(firing.id(), order));
    }

    @OnTimer("payload")
    public void payload(OrderRef order) {
      CALLED.add(order);
    }

    @OnTimer("firing")
    @SuppressWarnings("UnusedMethod") // called by reflection
    private void firing(Firing firing) {
      CALLED.add(firing.id());
    }

    @OnTimer("nothing")
    protected void nothing() {
      CALLED.add("nothing");
    }

    @OnTimer("bytes")
    void bytes(byte[] bytes) {
      CALLED.add(new String(bytes, UTF_8));
    }
  }

  static class Failing {
    @OnTimer("exception")
    void exception() throws Exception {
      throw new Exception("on purpose");
    }

    @OnTimer("error")
    void error() {
      throw new AssertionError("on purpose");
    }

    @OnTimer(value = "stuck", timeLimit = "20ms")
    void stuck() throws InterruptedException {
      new CountDownLatch(1).await();
    }
  }

  static class OneAtATime {
    final AtomicInteger now = new AtomicInteger();
    final AtomicInteger most = new AtomicInteger();
    final CountDownLatch all = new CountDownLatch(20);

    @OnTimer(value = "one", limit = 1)
    @SuppressWarnings("ThreadPriorityCheck") // without the limit, another attempt runs now
    void one() {
      most.accumulateAndGet(now.incrementAndGet(), Math::max);
      Thread.yield();
      now.decrementAndGet();
      all.countDown();
    }
  }

  @OnTimer("composed")
  @Retention(RetentionPolicy.RUNTIME)
  @Target(ElementType.METHOD)
  @interface Composed {}

  abstract static class Base {
    @Composed
    abstract void on();
  }

  static class Derived extends Base {
    @Override
    void on() {
      CALLED.add("derived");
    }
  }

  /**
   * Makes proxies of beans with handlers, like those for transactions: of the interface if the bean
   * has one.
   */
  @Configuration(proxyBeanMethods = false)
  static class Advice {
    @Bean
    static DefaultAdvisorAutoProxyCreator proxies() {
      return new DefaultAdvisorAutoProxyCreator();
    }

    @Bean
    static DefaultPointcutAdvisor advice() {
      MethodInterceptor interceptor =
          call -> {
            CALLED.add("advice");
            return call.proceed();
          };
      return new DefaultPointcutAdvisor(
          AnnotationMatchingPointcut.forMethodAnnotation(OnTimer.class), interceptor);
    }
  }

  static class Advised {
    @OnTimer("advised")
    void on() {
      CALLED.add("advised");
    }
  }

  interface Work {
    void on();
  }

  static class BehindAnInterface implements Work {
    @Override
    @OnTimer("behind")
    public void on() {
      CALLED.add("behind");
    }
  }

  static class Once {
    static final AtomicInteger MADE = new AtomicInteger();

    private final int number = MADE.incrementAndGet();

    @OnTimer("once")
    void on() {
      CALLED.add("object " + number);
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class LazyOne {
    @Bean
    @Lazy
    Once once() {
      return new Once();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class ScopedOne {
    @Bean
    @Scope(value = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
    Once once() {
      return new Once();
    }
  }
}
