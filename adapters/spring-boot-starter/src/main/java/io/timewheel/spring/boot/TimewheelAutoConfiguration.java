// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import io.timewheel.HierarchicalWheelTimer;
import io.timewheel.TaskErrorHandler;
import io.timewheel.TimeSource;
import io.timewheel.Timer;
import io.timewheel.TimerListener;
import io.timewheel.concurrent.WheelScheduledExecutor;
import java.util.concurrent.ScheduledExecutorService;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.system.JavaVersion;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.concurrent.ConcurrentTaskScheduler;

/**
 * Configures a {@link Timer}, and a {@link TaskScheduler} on it.
 *
 * <table>
 * <caption>The beans</caption>
 * <tr><th>Bean<th>Description<th>Not created if there is
 * <tr><td>{@code timewheelTimer}<td>a {@link HierarchicalWheelTimer}, with the {@link TimerListener}, {@link TaskErrorHandler} and {@link TimeSource} that are beans
 * <td>a {@link Timer}
 * <tr><td>{@code taskScheduler}<td>the scheduler of {@code @Scheduled}, on the {@link Timer} bean, or on a timer of its own if that has a limit<td>a {@link TaskScheduler} or {@link ScheduledExecutorService}
 * </table>
 *
 * <p>The tasks of both beans run on separate threads, never on the timer thread. These are virtual
 * threads if {@code spring.threads.virtual.enabled} is true on Java 21 or later. When the context
 * closes, running tasks may end within {@code timewheel.shutdown-timeout}.
 */
@AutoConfiguration(
    after = TaskExecutionAutoConfiguration.class,
    before = TaskSchedulingAutoConfiguration.class)
@EnableConfigurationProperties(TimewheelProperties.class)
public final class TimewheelAutoConfiguration {
  /** The name of the timer bean. */
  static final String TIMER = "timewheelTimer";

  TimewheelAutoConfiguration() {}

  @Bean
  Workers timewheelWorkers(
      TimewheelProperties properties,
      Environment environment,
      ConfigurableApplicationContext context) {
    String namePrefix = properties.name() + "-worker-";
    if (environment.getProperty("spring.threads.virtual.enabled", Boolean.class, false)
        && JavaVersion.getJavaVersion().isEqualOrNewerThan(JavaVersion.TWENTY_ONE)) {
      return Workers.virtual(context, namePrefix, properties.shutdownTimeout());
    }
    return Workers.pool(
        context, namePrefix, properties.checkedWorkerThreads(), properties.shutdownTimeout());
  }

  @Bean(TIMER)
  @ConditionalOnMissingBean(Timer.class)
  HierarchicalWheelTimer timewheelTimer(
      TimewheelProperties properties,
      Workers workers,
      ObjectProvider<TimerListener> listener,
      ObjectProvider<TaskErrorHandler> onError,
      ObjectProvider<TimeSource> timeSource) {
    HierarchicalWheelTimer.Builder settings =
        properties
            .timer()
            .maxPendingTimeouts(properties.maxPendingTimeouts())
            .executor(workers::execute);
    listener.ifAvailable(settings::listener);
    onError.ifAvailable(settings::onError);
    timeSource.ifAvailable(settings::timeSource);
    HierarchicalWheelTimer timer = settings.build();
    workers.stopFirst(timer::stop);
    return timer;
  }

  /**
   * Returns the scheduler. It has a timer of its own if {@code timewheelTimer} has a limit: a cron
   * method whose next run is refused would never run again.
   */
  @Bean
  @ConditionalOnSingleCandidate(Timer.class)
  @ConditionalOnMissingBean({TaskScheduler.class, ScheduledExecutorService.class})
  @ConditionalOnProperty(name = "timewheel.scheduler.enabled", matchIfMissing = true)
  TaskScheduler taskScheduler(
      Timer timer,
      TimewheelProperties properties,
      Workers workers,
      ObjectProvider<TimeSource> timeSource,
      BeanFactory beans) {
    Timer unlimited = timer;
    if (properties.maxPendingTimeouts() > 0 && beans.containsBean(TIMER)) {
      HierarchicalWheelTimer.Builder settings =
          properties.timer().name(properties.name() + "-scheduled").executor(workers::execute);
      timeSource.ifAvailable(settings::timeSource);
      HierarchicalWheelTimer own = settings.build();
      workers.stopFirst(own::stop);
      unlimited = own;
    }
    WheelScheduledExecutor executor =
        WheelScheduledExecutor.builder()
            .timer(unlimited)
            .executor(workers::execute)
            .executeExistingDelayedTasksAfterShutdown(false)
            .build();
    workers.stopFirst(executor::shutdown);
    return new ConcurrentTaskScheduler(executor);
  }
}
