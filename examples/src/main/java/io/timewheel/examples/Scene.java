// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

import io.timewheel.HierarchicalWheelTimer;
import io.timewheel.Timer;
import java.io.PrintStream;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Where an example plays: in real time, or in that of a test, which takes none.
 *
 * @param timer the timer
 * @param executor runs what must not run on the timer's thread
 * @param time lets time pass
 * @param out where to say what happens
 */
record Scene(Timer timer, Executor executor, Time time, PrintStream out) {
  /** Lets time pass. */
  @FunctionalInterface
  interface Time {
    void pass(Duration time) throws InterruptedException;
  }

  /** What an example does. */
  @FunctionalInterface
  interface Play {
    void in(Scene scene) throws InterruptedException;
  }

  static void inRealTime(Play play) throws InterruptedException {
    ExecutorService executor = Executors.newFixedThreadPool(2);
    try (Timer timer = HierarchicalWheelTimer.create()) {
      play.in(new Scene(timer, executor, time -> Thread.sleep(time.toMillis()), System.out));
    } finally {
      executor.shutdown();
    }
  }

  void pass(long millis) throws InterruptedException {
    time.pass(Duration.ofMillis(millis));
  }

  void say(String text) {
    out.println(text);
  }
}
