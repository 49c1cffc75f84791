// SPDX-License-Identifier: Apache-2.0
package io.timewheel.dropin;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.PolledTimer;
import io.timewheel.testkit.ManualTimeSource;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The warning for a task that throws, and the events of Flight Recorder, contain the user's class.
 */
public abstract class DropInTaskClassContract<M, T, K> implements DropIn<M, T, K> {
  private final ManualTimeSource clock = new ManualTimeSource();
  private final PolledTimer wheel = PolledTimer.builder().timeSource(clock).build();

  /** Starts a recording, so that the timer loads its event classes when it is created. */
  @BeforeAll
  static void useFlightRecorder() {
    FlightRecorder.getFlightRecorder();
  }

  @Test
  void warningNamesTheUsersClass() {
    List<String> warnings = new ArrayList<>();
    Handler handler =
        new Handler() {
          @Override
          public void publish(LogRecord entry) {
            warnings.add(entry.getMessage());
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    K task =
        task(
            timeout -> {
              throw new Exception("on purpose");
            });
    Logger logger = Logger.getLogger("io.timewheel");
    logger.setUseParentHandlers(false);
    logger.addHandler(handler);
    try {
      newTimeout(on(wheel), task, 1, SECONDS);
      clock.advanceBy(Duration.ofSeconds(1));
      wheel.poll();
    } finally {
      logger.removeHandler(handler);
      logger.setUseParentHandlers(true);
    }

    assertThat(warnings)
        .containsExactly("a callback of task " + task.getClass().getName() + " threw");
  }

  @Test
  void flightRecorderNamesTheUsersClass(@TempDir Path directory) throws Exception {
    K task = task(timeout -> {});
    newTimeout(on(wheel), task, 1, SECONDS);
    Path file = directory.resolve("slow.jfr");
    try (Recording recording = new Recording()) {
      recording.enable("io.timewheel.SlowTask").with("threshold", "0 ns");
      recording.start();
      clock.advanceBy(Duration.ofSeconds(1));
      wheel.poll();
      recording.stop();
      recording.dump(file);
    }

    assertThat(RecordingFile.readAllEvents(file))
        .extracting(event -> event.getClass("taskClass").getName())
        .containsExactly(task.getClass().getName());
  }
}
