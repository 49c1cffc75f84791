// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the files of the audit log. */
class AuditFileTest {
  private static final int MB = 1 << 20;

  @TempDir private Path directory;

  private static long size(Path directory) throws IOException {
    long size = 0;
    try (var files = Files.list(directory)) {
      for (Path each : files.toList()) {
        size += Files.size(each);
      }
    }
    return size;
  }

  @Test
  void theFilesStayWithinTheirSizeAndContainTheLatestLines() throws Exception {
    AuditFile file = new AuditFile(directory.resolve("audit.log"), MB);
    for (int i = 0; i < 3_000; i++) {
      file.write(i + "x".repeat(1_000));
    }

    assertThat(directory.resolve("audit.log.9")).isNotEmptyFile();
    assertThat(size(directory)).isBetween(MB / 2L, (long) MB);
    int next = 3_000;
    for (int i = 0; i < 10; i++) {
      Path each = directory.resolve(i == 0 ? "audit.log" : "audit.log." + i);
      next -= Files.readAllLines(each).size();
      assertThat(each).content().startsWith(next + "x");
    }
  }

  @Test
  void aFileIsContinuedAfterARestartAndAnInterrupt() throws Exception {
    Path path = directory.resolve("audit.log");
    new AuditFile(path, MB).write("a");
    AuditFile again = new AuditFile(path, MB);
    Thread.currentThread().interrupt();
    again.write("b");
    assertThat(Thread.interrupted()).isTrue();
    again.write("c");

    assertThat(path).hasContent("a\nb\nc\n");
  }

  @Test
  void afterAFailureTheFileIsOpenedAgain() throws Exception {
    Path path = directory.resolve("audit.log");
    AuditFile file = new AuditFile(path, MB);
    file.write("x".repeat(100_000));
    Files.createFile(directory.resolve("audit.log.8"));
    Path inside =
        Files.createFile(Files.createDirectory(directory.resolve("audit.log.9")).resolve("file"));
    assertThatThrownBy(() -> file.write("a".repeat(100_000))).isInstanceOf(IOException.class);
    Files.delete(inside);
    file.write("b".repeat(100_000));

    assertThat(path).content().startsWith("b");
    assertThat(directory.resolve("audit.log.1")).content().startsWith("x");
  }

  @Test
  void aSizeThatIsTooSmallIsRefused() {
    assertThatThrownBy(() -> new AuditFile(directory.resolve("audit.log"), MB - 1))
        .hasMessageContaining("minimum: 1MB");
  }

  @Test
  void aFileThatCannotBeWrittenIsRefused() {
    assertThatThrownBy(() -> new AuditFile(directory, MB))
        .hasMessage("--audit-log: " + directory + " cannot be written");
  }
}
