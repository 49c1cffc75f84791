// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Verifies Flight Recorder in separate JVMs, in which no other test has used it. */
class LateRecordingTest {
  @TempDir private Path directory;

  @Test
  void noEventIsLoadedWithoutARecording() throws Exception {
    Path classes = directory.resolve("classes.txt");
    run(Stream.of("-Xlog:class+load:file=" + classes), Stream.of());
    assertThat(Files.readString(classes))
        .contains("io.timewheel.durable.DurableTimer ")
        .doesNotContain("jdk.jfr.Event ");
  }

  @Test
  void aRecordingThatStartsLaterHasTheEventsSoon() throws Exception {
    Path file = directory.resolve("late.jfr");
    run(Stream.of(), Stream.of(file.toString()));
    List<RecordedEvent> events = RecordingFile.readAllEvents(file);
    assertThat(events)
        .extracting(event -> event.getString("id"))
        .contains("afterwards")
        .isSubsetOf("meanwhile", "afterwards");
  }

  private void run(Stream<String> options, Stream<String> arguments) throws Exception {
    Path java = Path.of(System.getProperty("java.home"), "bin", "java");
    Stream<String> program =
        Stream.of(
            "-XX:TieredStopAtLevel=1", // faster for a JVM that lives a second
            "-cp",
            System.getProperty("java.class.path"),
            LateRecordingProgram.class.getName());
    List<String> command =
        Stream.of(Stream.of(java.toString()), options, program, arguments)
            .flatMap(part -> part)
            .toList();
    File output = directory.resolve("output.txt").toFile();
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output).start();
    try {
      assertThat(process.waitFor(2, TimeUnit.MINUTES)).as("the end of %s", command).isTrue();
    } finally {
      process.destroyForcibly();
    }
    assertThat(process.exitValue()).as(Files.readString(output.toPath())).isZero();
  }
}
