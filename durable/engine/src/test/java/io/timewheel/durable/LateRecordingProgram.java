// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import java.nio.file.Path;
import java.time.Duration;
import jdk.jfr.Recording;

/**
 * A program that uses a scheduler for a while, and then starts a recording if it has an argument.
 */
public final class LateRecordingProgram {
  private static final Scene SCENE = new Scene();

  private LateRecordingProgram() {}

  /** The optional argument is the file of the recording. */
  public static void main(String[] args) throws Exception {
    fire("before");
    if (args.length == 0) {
      return;
    }
    try (Recording recording = new Recording()) {
      recording.enable("io.timewheel.durable.Attempt").withoutThreshold();
      recording.start();
      fire("meanwhile");
      awaitEvents();
      fire("afterwards");
      recording.stop();
      recording.dump(Path.of(args[0]));
    }
  }

  private static void fire(String id) {
    SCENE.scheduler.schedule(TimerSpec.of("ns", id).handler("h").after(Duration.ofSeconds(1)));
    SCENE.kit.advanceBy(Duration.ofSeconds(1));
  }

  /** Waits for the events. The thread that loads them has started, and may have ended. */
  private static void awaitEvents() throws InterruptedException {
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      if (thread.getName().equals("timewheel-durable-events")) {
        thread.join();
      }
    }
  }
}
