// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.DurableTimerBuilder;
import io.timewheel.durable.PayloadCodec;
import io.timewheel.durable.model.Handler;
import io.timewheel.durable.spi.TimerStore;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;

/**
 * Manages the lifecycle of the scheduler for durable timers, the {@link DurableTimer} bean.
 *
 * <h2>Creation</h2>
 *
 * The scheduler is created for the first bean that injects it, {@link OnTimer} method or {@link
 * DurableTimerCustomizer}. Otherwise, no store is opened: the module of a store may be on the class
 * path by accident.
 *
 * <h2>Start</h2>
 *
 * The scheduler is built but not started, so beans that inject it can schedule timers at once.
 * Handlers are detected when all singletons exist, as for {@code @EventListener}. Beans then have
 * their final types, and an invalid handler ends the start before a web server opens its port.
 * Firing begins last, when the context is refreshed. If it began earlier, a service that repeatedly
 * fails to start would exhaust the attempts of its timers.
 *
 * <h2>Stop</h2>
 *
 * A lifecycle bean closes the scheduler. The destruction of its bean could come too late, because
 * handlers use other beans, which this class does not know. Its phase is above that of {@link
 * Workers}, because handlers may use the timer in memory, which {@link Workers} stops. It is below
 * the phases of web servers and message listeners, because these schedule timers for their current
 * work. As with {@link Workers}, only the close of the context closes the scheduler.
 */
final class DurableTimers
    implements SmartInitializingSingleton,
        ApplicationListener<ContextRefreshedEvent>,
        SmartLifecycle {
  static final int PHASE = Workers.PHASE + 1;

  private static final System.Logger LOGGER = System.getLogger("io.timewheel");

  private final ConfigurableApplicationContext context;
  private final ObjectProvider<DurableTimerCustomizer> customizers;
  private final ObjectProvider<PayloadCodec> codec;
  private final Duration shutdownTimeout;
  private final List<Consumer<DurableTimer>> whenMade = new ArrayList<>();

  private @Nullable DurableTimerBuilder builder;
  private @Nullable DurableTimer timer;
  private boolean refreshed;
  private volatile boolean running = true;

  DurableTimers(
      ConfigurableApplicationContext context,
      ObjectProvider<DurableTimerCustomizer> customizers,
      ObjectProvider<PayloadCodec> codec,
      Duration shutdownTimeout) {
    this.context = context;
    this.customizers = customizers;
    this.codec = codec;
    this.shutdownTimeout = shutdownTimeout;
  }

  // Creation

  /** Builds the scheduler. Called once, when the bean is first requested. */
  DurableTimer make(ObjectProvider<TimerStore> stores) {
    TimerStore store = stores.getIfAvailable();
    if (store == null) {
      throw new IllegalStateException(
          "a DurableTimer is required, but there is no store (expected: a TimerStore bean, such as"
              + " a JdbcTimerStore, or timewheel-durable-rocksdb on the class path)");
    }
    DurableTimerBuilder settings = DurableTimer.builder(store);
    codec.ifAvailable(settings::codec);
    customizers.orderedStream().forEach(customizer -> customizer.customize(settings));
    DurableTimer made = settings.build();
    synchronized (this) {
      builder = settings;
      timer = made;
      whenMade.forEach(action -> action.accept(made));
      if (refreshed) {
        made.start();
      }
    }
    return made;
  }

  /**
   * Passes the scheduler to an action, now or once it is made. If no bean requests the scheduler,
   * the action never runs.
   */
  synchronized void whenMade(Consumer<DurableTimer> action) {
    if (timer == null) {
      whenMade.add(action);
    } else {
      action.accept(timer);
    }
  }

  /** {@return the scheduler, or the application's own; null if none was requested} */
  @Nullable DurableTimer inUse() {
    DurableTimer made = timer();
    return made != null || context.containsBean(TimewheelDurableAutoConfiguration.TIMER)
        ? made
        : context.getBeanProvider(DurableTimer.class).getIfUnique();
  }

  private synchronized @Nullable DurableTimer timer() {
    return timer;
  }

  // Handlers

  @Override
  public void afterSingletonsInstantiated() {
    Map<String, OnTimerMethod> methods = new HashMap<>();
    for (String bean : context.getBeanNamesForType(Object.class)) {
      Class<?> type = targetClass(bean);
      if (type != null) {
        annotated(type).forEach((method, onTimer) -> add(methods, bean, method, onTimer));
      }
    }
    if (methods.isEmpty() && customizers.stream().findAny().isEmpty()) {
      return;
    }
    context.getBean(DurableTimer.class);
    for (OnTimerMethod method : methods.values()) {
      register(method, method.handler());
    }
    List<OnTimerMethod> transactional =
        methods.values().stream().filter(OnTimerMethod::isTransactional).toList();
    if (!transactional.isEmpty()) {
      context
          .getBean(ExactlyOnce.class)
          .checkPool(
              transactional.size(), transactional.stream().mapToLong(OnTimerMethod::limit).sum());
    }
  }

  private @Nullable Class<?> targetClass(String bean) {
    ConfigurableListableBeanFactory beans = context.getBeanFactory();
    if (ScopedProxyUtils.isScopedTarget(bean)) {
      return null; // its proxy is a bean too, and is checked instead
    }
    String target = ScopedProxyUtils.getTargetBeanName(bean);
    return AutoProxyUtils.determineTargetClass(beans, beans.containsBean(target) ? target : bean);
  }

  private static Map<Method, OnTimer> annotated(Class<?> type) {
    try {
      return MethodIntrospector.selectMethods(
          type,
          (Method method) -> AnnotatedElementUtils.findMergedAnnotation(method, OnTimer.class));
    } catch (LinkageError e) {
      // A library's class refers to classes that are missing. The application calls none of its
      // methods.
      LOGGER.log(System.Logger.Level.DEBUG, "cannot look for @OnTimer in " + type, e);
      return Map.of();
    }
  }

  private void add(
      Map<String, OnTimerMethod> methods, String bean, Method method, OnTimer annotation) {
    Class<?> type = context.getType(bean);
    OnTimerMethod made =
        new OnTimerMethod(
            context,
            bean,
            type == null ? method.getDeclaringClass() : type,
            annotation,
            method,
            codec.getIfAvailable(),
            context.getBeanProvider(ExactlyOnce.class));
    OnTimerMethod other = methods.putIfAbsent(made.name(), made);
    if (other != null) {
      throw made.invalid("so is " + other, "each name once");
    }
  }

  private synchronized void register(OnTimerMethod method, Handler handler) {
    if (builder == null) {
      throw method.invalid(
          "the application has made its own DurableTimer",
          "a DurableTimerCustomizer instead, or the handler added to the builder of that timer");
    }
    try {
      builder.handler(method.name(), handler, method.limit(), method.timeLimit());
    } catch (IllegalArgumentException e) {
      throw new IllegalStateException(method + ": " + e.getMessage(), e);
    }
  }

  // Start and stop

  @Override
  public void onApplicationEvent(ContextRefreshedEvent event) {
    if (event.getApplicationContext() == context) {
      synchronized (this) {
        refreshed = true;
        if (timer != null) {
          timer.start();
        }
      }
    }
  }

  @Override
  public void start() {}

  /** Closes the scheduler if the context closes permanently. */
  @Override
  public void stop() {
    if (context.isClosed()) {
      running = false;
      DurableTimer made = timer();
      if (made != null) {
        made.close(shutdownTimeout);
      }
    }
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  @Override
  public int getPhase() {
    return PHASE;
  }
}
