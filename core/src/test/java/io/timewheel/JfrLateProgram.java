// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import jdk.jfr.Recording;

/** A program that has used a timer for a while when a recording starts. */
public final class JfrLateProgram {
  private static final TestClock CLOCK = new TestClock();
  private static final PolledTimer TIMER = PolledTimer.builder().timeSource(CLOCK).build();

  private JfrLateProgram() {}

  /** The optional argument is the file of the recording. */
  public static void main(String[] args) throws Exception {
    runLateTask();
    if (args.length == 0) {
      return;
    }
    try (Recording recording = new Recording()) {
      recording.enable("io.timewheel.TimerLag");
      recording.start();
      runLateTask();
      awaitEvents();
      runLateTask();
      recording.stop();
      recording.dump(Path.of(args[0]));
    }
  }

  private static void runLateTask() {
    TIMER.newTimeout(timeout -> {}, 1, TimeUnit.MILLISECONDS);
    CLOCK.advance(TimeUnit.SECONDS.toNanos(1));
    TIMER.poll();
  }

  /** The thread that loads the events has started by now, and may have ended. */
  private static void awaitEvents() throws InterruptedException {
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      if (thread.getName().equals("timewheel-events")) {
        thread.join();
      }
    }
  }
}
