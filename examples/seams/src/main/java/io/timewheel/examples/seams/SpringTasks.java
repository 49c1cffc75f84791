// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples.seams;

import io.timewheel.examples.Scene;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.concurrent.ConcurrentTaskScheduler;

/**
 * Spring's {@code TaskScheduler} on the timer. If it is the bean {@code taskScheduler},
 * {@code @Scheduled} methods run on it.
 */
public final class SpringTasks {
  private SpringTasks() {}

  /**
   * Runs the example. It prints:
   *
   * <pre>
   * heartbeat
   * heartbeat
   * heartbeat
   * cancelled: true
   * </pre>
   *
   * @param args none
   */
  public static void main(String[] args) throws InterruptedException {
    Scene.inRealTime(SpringTasks::play);
  }

  static void play(Scene scene) throws InterruptedException {
    ScheduledExecutorService scheduler = scene.scheduler();
    TaskScheduler tasks = new ConcurrentTaskScheduler(scheduler);

    ScheduledFuture<?> heartbeat =
        tasks.scheduleAtFixedRate(() -> scene.say("heartbeat"), Duration.ofMillis(100));
    scene.pass(250);
    scene.say("cancelled: " + heartbeat.cancel(false));
    scheduler.shutdown();
  }
}
