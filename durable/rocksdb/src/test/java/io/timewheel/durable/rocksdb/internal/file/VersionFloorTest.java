// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Verifies the file of reserved versions, and the order of its syncs. */
class VersionFloorTest {
  @TempDir private Path directory;
  private Path file;

  @BeforeEach
  void name() {
    file = directory.resolve(VersionFloor.FILE);
  }

  private static String content(long version) {
    return "timewheel-versions 1 " + version + "\n";
  }

  @Test
  void syncsContentAndThenNameBeforeAVersionCounts() throws IOException {
    List<String> forced = new ArrayList<>();
    VersionFloor[] floor = new VersionFloor[1];
    floor[0] =
        new VersionFloor(
            directory,
            path -> {
              String content = Files.readString(Files.isDirectory(path) ? file : path);
              forced.add(path.getFileName() + " containing " + content.strip());
              assertThat(floor[0].reserved()).isZero();
            });

    floor[0].reserve(1);

    assertThat(forced)
        .containsExactly(
            "VERSIONS.next containing timewheel-versions 1 100001",
            directory.getFileName() + " containing timewheel-versions 1 100001");
    assertThat(floor[0].reserved()).isEqualTo(100_001);
  }

  @Test
  void reservesNothingIfASyncFails() throws IOException {
    VersionFloor floor =
        new VersionFloor(
            directory,
            path -> {
              if (Files.isDirectory(path)) {
                throw new IOException("no room");
              }
            });

    assertThatThrownBy(() -> floor.reserve(1)).hasMessage("no room");

    assertThat(floor.reserved()).isZero();
  }

  @Test
  void isReadByTheNextSession() throws IOException {
    VersionFloor first = new VersionFloor(directory);
    first.reserve(1);
    assertThat(file).hasContent(content(100_001));
    assertThat(new VersionFloor(directory).reserved()).isEqualTo(100_001);

    first.giveBack(7);
    assertThat(new VersionFloor(directory).reserved()).isEqualTo(7);
    assertThat(directory).isDirectoryNotContaining("glob:**.next");
  }

  @Test
  void refusesAnInvalidText() throws IOException {
    Files.writeString(file, "12");

    assertThatThrownBy(() -> new VersionFloor(directory))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("VERSIONS");
  }
}
