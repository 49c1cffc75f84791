// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs separate JVMs. Without Flight Recorder, timers work. With it, there are events. */
class JfrModuleTest {
  private static final String CORE = "io.timewheel.core";
  private static final List<String> ON_THE_CLASS_PATH =
      List.of("-cp", ChildJvm.CLASS_PATH, JfrProgram.class.getName());
  private static final List<String> AS_A_MODULE =
      List.of(
          "--module-path",
          ChildJvm.MAIN,
          "--patch-module",
          CORE + "=" + ChildJvm.TESTS,
          "--module",
          CORE + "/" + JfrProgram.class.getName());

  @TempDir Path directory;

  @Test
  void timersWorkOnTheClassPathOfAJvmWithoutIt() throws Exception {
    assertThat(run(List.of("--limit-modules", "java.base"), ON_THE_CLASS_PATH))
        .containsExactly("polled", "ran", "recorder: false", "module: null");
  }

  @Test
  void timersWorkAsAModuleOfAJvmWithoutIt() throws Exception {
    assertThat(run(List.of("--limit-modules", CORE), AS_A_MODULE))
        .containsExactly("polled", "ran", "recorder: false", "module: " + CORE);
  }

  @Test
  void aRecordingHasTheEventsOnTheClassPath() throws Exception {
    assertThat(run(recording(), ON_THE_CLASS_PATH)).contains("ran", "recorder: true");
    assertThatTheEventsAreRecorded();
  }

  @Test
  void recordingHasTheEventsOnTheModulePath() throws Exception {
    assertThat(run(recording(), AS_A_MODULE)).contains("ran", "recorder: true", "module: " + CORE);
    assertThatTheEventsAreRecorded();
  }

  /** Loading the events took most of the time for the first timer of a JVM. */
  @Test
  void noEventIsLoadedWithoutARecording() throws Exception {
    Path classes = directory.resolve("classes.txt");
    ChildJvm.run(
        directory,
        List.of(
            "-Xlog:class+load:file=" + classes,
            "-cp",
            ChildJvm.CLASS_PATH,
            JfrLateProgram.class.getName()));
    assertThat(Files.readString(classes))
        .contains("io.timewheel.PolledTimer ")
        .doesNotContain("jdk.jfr.Event ");
  }

  @Test
  void aRecordingThatStartsLaterHasTheEventsSoon() throws Exception {
    Path file = directory.resolve("late.jfr");
    ChildJvm.run(
        directory,
        List.of("-cp", ChildJvm.CLASS_PATH, JfrLateProgram.class.getName(), file.toString()));
    assertThat(RecordingFile.readAllEvents(file))
        .as("events of the second and the third task, or of the third alone")
        .hasSizeBetween(1, 2)
        .allSatisfy(
            event -> assertThat(event.getDuration("late")).isEqualTo(Duration.ofMillis(999)));
  }

  private List<String> recording() {
    return List.of(
        "-XX:StartFlightRecording:settings=none,filename="
            + directory.resolve("timers.jfr")
            + ",+io.timewheel.TimerLag#enabled=true,+io.timewheel.TimerLag#late=900ms"
            + ",+io.timewheel.SlowTask#enabled=true,+io.timewheel.SlowTask#threshold=0ns");
  }

  private void assertThatTheEventsAreRecorded() throws IOException {
    List<RecordedEvent> events = RecordingFile.readAllEvents(directory.resolve("timers.jfr"));
    assertThat(events)
        .filteredOn(event -> event.getEventType().getName().equals("io.timewheel.TimerLag"))
        .filteredOn(event -> event.getString("timer").equals("PolledTimer()"))
        .extracting(event -> event.getDuration("late"))
        .containsExactly(Duration.ofMillis(999));
    assertThat(events)
        .filteredOn(event -> event.getEventType().getName().equals("io.timewheel.SlowTask"))
        .hasSize(2);
  }

  private List<String> run(List<String> options, List<String> program) throws Exception {
    return ChildJvm.run(directory, Stream.concat(options.stream(), program.stream()).toList());
  }
}
