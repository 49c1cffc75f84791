// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Operations on whole directories. */
final class Directories {
  private Directories() {}

  /** Deletes a directory and its content, if it exists. */
  static void delete(Path directory) throws IOException {
    for (Path path : content(directory).stream().sorted(Comparator.reverseOrder()).toList()) {
      Files.deleteIfExists(path);
    }
  }

  /** {@return the size of the files of a directory, in bytes} */
  static long size(Path directory) throws IOException {
    long bytes = 0;
    for (Path path : content(directory)) {
      try {
        bytes += Files.isRegularFile(path) ? Files.size(path) : 0;
      } catch (NoSuchFileException e) {
        // Deleted meanwhile.
      }
    }
    return bytes;
  }

  /** {@return the directory and its content, parents before children} */
  static List<Path> content(Path directory) throws IOException {
    if (!Files.exists(directory)) {
      return List.of();
    }
    try (Stream<Path> paths = Files.walk(directory)) {
      return paths.toList();
    }
  }
}
