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
 * Where an example plays: in real time, or in that of a test, which takes none.
 *
 * @param timer the timer
 * @param clock the clock of the timer
 * @param executor runs what must not run on the timer thread
 * @param time lets time pass
 * @param out where to say what happens
 */
public record Scene(Timer timer, TimeSource clock, Executor executor, Time time, PrintStream out) {
  /** Lets time pass. */
  @FunctionalInterface
  public interface Time {
    /**
     * Returns when the time has passed.
     *
     * @param time how much
     * @throws InterruptedException if the thread is interrupted
     */
    void pass(Duration time) throws InterruptedException;
  }

  /** What an example does. */
  @FunctionalInterface
  public interface Play {
    /**
     * Does it.
     *
     * @param scene where
     * @throws InterruptedException if the thread is interrupted
     */
    void in(Scene scene) throws InterruptedException;
  }

  /**
   * Plays on a timer of its own, in real time, to the standard output.
   *
   * @param play what to play
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

  /** {@return the JDK's interface for delayed work, on the timer; the executor runs the tasks} */
  public ScheduledExecutorService scheduler() {
    return WheelScheduledExecutor.builder().timer(timer).executor(executor).build();
  }

  /**
   * Lets time pass.
   *
   * @param millis how much
   * @throws InterruptedException if the thread is interrupted
   */
  public void pass(long millis) throws InterruptedException {
    time.pass(Duration.ofMillis(millis));
  }

  /**
   * Says what happens.
   *
   * @param text a line
   */
  public void say(String text) {
    out.println(text);
  }
}
