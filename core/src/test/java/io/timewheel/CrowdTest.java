// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import org.junit.jupiter.api.Test;

/** Too many timers with a thread. There is one warning per JVM, so there is one test. */
class CrowdTest {
  private final TestClock clock = new TestClock();
  private final List<WheelTimer> timers = new ArrayList<>();

  /** The log throws after it was written to: not even that may harm the timer that was one more. */
  @Test
  void moreThan64LiveTimersAreWarnedOfOncePerJvm() {
    RecordingTask task = new RecordingTask(clock);
    try (LogCapture log =
        new LogCapture(
            entry -> {
              throw new IllegalStateException("a log that throws");
            })) {
      startTimers(Worker.LIVE_LIMIT);
      timers.forEach(Timer::stop); // returns when the worker has ended: not live any more
      assertThat(log.lines()).isEmpty();

      startTimers(Worker.LIVE_LIMIT + 1);
      Await.until("a warning", () -> log.has(Level.WARNING));
      timers.forEach(timer -> timer.newTimeout(task, 1, TimeUnit.MILLISECONDS));
      Await.until(
          "all to run",
          () -> {
            clock.advance(TimeUnit.MILLISECONDS.toNanos(2));
            return task.runs() == timers.size();
          });
      timers.forEach(Timer::stop);

      startTimers(Worker.LIVE_LIMIT + 2);
      timers.forEach(Timer::stop);
      assertThat(log.lines())
          .containsExactly(
              "WARNING: 65 timers are live in this JVM; share one timer, or stop those no longer"
                  + " needed");
    }
  }

  private void startTimers(int number) {
    timers.clear();
    for (int i = 0; i < number; i++) {
      WheelTimer timer =
          HierarchicalWheelTimer.builder().timeSource(clock).stripes(1).name("crowd " + i).build();
      timers.add(timer);
      timer.newTimeout(timeout -> {}, Long.MAX_VALUE, TimeUnit.DAYS);
    }
  }
}
