// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** JVMs of their own: without Flight Recorder timers work, and with it there are events. */
class JfrModuleTest {
  private static final String CORE = "io.timewheel.core";
  private static final String MAIN = MainClasses.directory().toString();
  private static final String TESTS = testClasses();
  private static final List<String> ON_THE_CLASS_PATH =
      List.of("-cp", MAIN + File.pathSeparator + TESTS, JfrProgram.class.getName());
  private static final List<String> AS_A_MODULE =
      List.of(
          "--module-path",
          MAIN,
          "--patch-module",
          CORE + "=" + TESTS,
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
  void aRecordingHasTheEventsOfAModule() throws Exception {
    assertThat(run(recording(), AS_A_MODULE)).contains("ran", "recorder: true", "module: " + CORE);
    assertThatTheEventsAreRecorded();
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

  /** Runs the program, and returns what it said. */
  private List<String> run(List<String> options, List<String> program) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.addAll(program);
    Path output = directory.resolve("output.txt");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      assertThat(process.waitFor(2, TimeUnit.MINUTES)).as("the end of %s", command).isTrue();
    } finally {
      process.destroyForcibly();
    }
    assertThat(Files.readString(output)).doesNotContain("Exception", "Error");
    assertThat(process.exitValue()).isZero();
    return Files.readAllLines(output);
  }

  private static String testClasses() {
    try {
      return Path.of(JfrProgram.class.getProtectionDomain().getCodeSource().getLocation().toURI())
          .toString();
    } catch (URISyntaxException e) {
      throw new AssertionError(e);
    }
  }
}
