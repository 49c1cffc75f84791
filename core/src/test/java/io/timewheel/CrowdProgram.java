// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import io.timewheel.testing.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** The program that {@link CrowdTest} runs: 64 live timers, then 65, then 66. */
public final class CrowdProgram {
  private static final TestClock CLOCK = new TestClock();
  private static final AtomicInteger RUNS = new AtomicInteger();

  private CrowdProgram() {}

  /**
   * Installs a log handler that records the message and then throws. The exception must not harm
   * the timer that exceeds the limit.
   */
  public static void main(String[] arguments) {
    try (LogCapture log =
        new LogCapture(
            entry -> {
              throw new IllegalStateException("a log that throws");
            })) {
      for (int i = 0; i <= 2; i++) {
        List<WheelTimer> timers = startTimers(Worker.LIVE_LIMIT + i);
        if (i == 1) {
          Await.until("a warning", () -> !log.lines().isEmpty());
        }
        runOneTaskOnEach(timers);
        timers.forEach(Timer::stop); // returns when their threads have ended
        System.out.println(timers.size() + " timers ran: " + log.lines());
      }
    }
  }

  static List<WheelTimer> startTimers(int number) {
    List<WheelTimer> timers = new ArrayList<>();
    for (int i = 0; i < number; i++) {
      WheelTimer timer = HierarchicalWheelTimer.builder().timeSource(CLOCK).stripes(1).build();
      timer.newTimeout(timeout -> {}, Long.MAX_VALUE, TimeUnit.DAYS);
      timers.add(timer);
    }
    return timers;
  }

  static void runOneTaskOnEach(List<WheelTimer> timers) {
    RUNS.set(0);
    timers.forEach(
        timer -> timer.newTimeout(t -> RUNS.incrementAndGet(), 1, TimeUnit.MILLISECONDS));
    Await.until(
        "all to run",
        () -> {
          CLOCK.advance(TimeUnit.MILLISECONDS.toNanos(2));
          return RUNS.get() == timers.size();
        });
  }
}
