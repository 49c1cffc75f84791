// SPDX-License-Identifier: Apache-2.0
package io.timewheel.concurrent;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.PolledTimer;
import io.timewheel.TestClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/**
 * The handler, the log and the recorder see the user's class for a task on a timer, not an internal
 * class.
 */
@SuppressWarnings("FutureReturnValueIgnored")
class TaskClassTest {
  private final TestClock clock = new TestClock();
  private final List<Class<?>> failed = new ArrayList<>();
  private final PolledTimer timer =
      PolledTimer.builder()
          .timeSource(clock)
          .onError((timeout, error) -> failed.add(timeout.task().taskClass()))
          .build();

  @Test
  void tasksOfAScheduledExecutor() {
    WheelScheduledExecutor executor =
        WheelScheduledExecutor.builder().timer(timer).executor(TaskClassTest::reject).build();

    executor.schedule((Runnable) new Mine(), 1, MILLISECONDS);
    executor.schedule((Callable<String>) new Mine(), 1, MILLISECONDS);
    executor.scheduleAtFixedRate(new Mine(), 1, 1, MILLISECONDS);
    executor.scheduleWithFixedDelay(new Mine(), 1, 1, MILLISECONDS);
    clock.advance(Duration.ofMillis(1));
    timer.poll();

    assertThat(failed).containsExactly(Mine.class, Mine.class, Mine.class, Mine.class);
  }

  @Test
  void tasksOfADelayedExecutor() {
    FutureTimeouts.on(timer, TaskClassTest::reject)
        .delayedExecutor(Duration.ofMillis(1))
        .execute(new Mine());
    clock.advance(Duration.ofMillis(1));
    timer.poll();

    assertThat(failed).containsExactly(Mine.class);
  }

  private static void reject(Runnable command) {
    throw new RejectedExecutionException("full");
  }

  private static final class Mine implements Runnable, Callable<String> {
    @Override
    public void run() {}

    @Override
    public String call() {
      return "";
    }
  }
}
