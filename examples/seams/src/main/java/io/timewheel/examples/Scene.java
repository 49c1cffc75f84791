// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

import io.timewheel.HierarchicalWheelTimer;
import io.timewheel.TimeSource;
import io.timewheel.Timer;
import io.timewheel.concurrent.WheelScheduledExecutor;
import java.io.PrintStream;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;

/**
 * The environment of an example. The time is real, or a test advances its clock without waiting.
 *
 * @param timer the timer
 * @param clock the clock of the timer
 * @param executor runs tasks that must not run on the timer thread
 * @param time advances the time
 * @param out the output of the example
 */
public record Scene(Timer timer, TimeSource clock, Executor executor, Time time, PrintStream out) {
  /** Advances the time. */
  @FunctionalInterface
  public interface Time {
    /**
     * Waits until the given time has passed.
     *
     * @param time the time to wait
     * @throws InterruptedException if the thread is interrupted
     */
    void pass(Duration time) throws InterruptedException;
  }

  /** The actions of an example. */
  @FunctionalInterface
  public interface Play {
    /**
     * Runs the example.
     *
     * @param scene its environment
     * @throws InterruptedException if the thread is interrupted
     */
    void in(Scene scene) throws InterruptedException;
  }

  /**
   * Runs an example on its own timer, in real time, with the standard output.
   *
   * @param play the actions of the example
   * @throws InterruptedException if the thread is interrupted
   */
  public static void inRealTime(Play play) throws InterruptedException {
    ExecutorService executor = Executors.newFixedThreadPool(2);
    try (Timer timer = HierarchicalWheelTimer.create()) {
      play.in(
          new Scene(
              timer,
              TimeSource.system(),
              executor,
              time -> Thread.sleep(time.toMillis()),
              System.out));
    } finally {
      executor.shutdown();
    }
  }

  /** {@return a scheduled executor on the timer; the executor of this scene runs the tasks} */
  public ScheduledExecutorService scheduler() {
    return WheelScheduledExecutor.builder().timer(timer).executor(executor).build();
  }

  /**
   * Advances the time.
   *
   * @param millis the time to wait, in milliseconds
   * @throws InterruptedException if the thread is interrupted
   */
  public void pass(long millis) throws InterruptedException {
    time.pass(Duration.ofMillis(millis));
  }

  /**
   * Prints a line.
   *
   * @param text the line
   */
  public void say(String text) {
    out.println(text);
  }
}
