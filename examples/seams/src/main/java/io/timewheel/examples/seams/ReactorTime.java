// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples.seams;

import io.timewheel.examples.Scene;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeoutException;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** Delays and timeouts of Project Reactor on the timer, instead of Reactor's parallel scheduler. */
public final class ReactorTime {
  private ReactorTime() {}

  /**
   * Runs the example. It prints:
   *
   * <pre>
   * 100 ms have passed
   * no answer within 200 ms
   * </pre>
   *
   * @param args none
   */
  public static void main(String[] args) throws InterruptedException {
    Scene.inRealTime(ReactorTime::play);
  }

  static void play(Scene scene) throws InterruptedException {
    ScheduledExecutorService scheduler = scene.scheduler();
    Scheduler wheel = Schedulers.fromExecutorService(scheduler);

    Mono.delay(Duration.ofMillis(100), wheel).subscribe(tick -> scene.say("100 ms have passed"));
    Mono.never()
        .timeout(Duration.ofMillis(200), wheel)
        .onErrorComplete(TimeoutException.class)
        .doOnTerminate(() -> scene.say("no answer within 200 ms"))
        .subscribe();
    scene.pass(300);
    wheel.dispose(); // shuts the scheduler down
  }
}
