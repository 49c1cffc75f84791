// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * Creates the temporary directories of servers. Their names contain the id of the process that
 * created them. A later JVM deletes the directories of a killed one.
 */
final class Directories {
  static final String UNPRIVILEGED = "nobody";

  /** The id of the group; its name differs between systems. */
  static final String UNPRIVILEGED_GROUP = "65534";

  static final boolean IS_ROOT = "root".equals(System.getProperty("user.name"));

  private static final String PREFIX = "timewheel-database-";
  private static final Path PARENT = Path.of(System.getProperty("java.io.tmpdir"));
  private static final Set<Path> MADE = ConcurrentHashMap.newKeySet();

  static {
    deleteLeftovers();
    Runtime.getRuntime().addShutdownHook(new Thread(Directories::end, "database-servers-end"));
  }

  private Directories() {}

  /** {@return the parent directory of all directories} */
  static Path parent() {
    return PARENT;
  }

  /** Creates a directory that an unprivileged server can write to. */
  static Path create() {
    try {
      Path directory =
          Files.createTempDirectory(PARENT, PREFIX + ProcessHandle.current().pid() + "-");
      if (IS_ROOT) {
        Files.setOwner(
            directory,
            PARENT
                .getFileSystem()
                .getUserPrincipalLookupService()
                .lookupPrincipalByName(UNPRIVILEGED));
      }
      MADE.add(directory);
      return directory;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Deletes a directory and its content, as far as possible. */
  static void delete(Path directory) {
    MADE.remove(directory);
    List<Path> all;
    try (Stream<Path> files = Files.walk(directory)) {
      all = files.sorted(Comparator.reverseOrder()).toList();
    } catch (IOException | UncheckedIOException e) {
      return;
    }
    for (Path path : all) {
      try {
        Files.deleteIfExists(path);
      } catch (IOException e) {
        // A server that is being killed may still write.
      }
    }
  }

  private static void deleteLeftovers() {
    try (DirectoryStream<Path> directories = Files.newDirectoryStream(PARENT, PREFIX + "*")) {
      for (Path directory : directories) {
        String pid = directory.getFileName().toString().substring(PREFIX.length()).split("-", 2)[0];
        Optional<ProcessHandle> maker = ProcessHandle.of(Long.parseLong(pid));
        if (maker.isEmpty()) {
          delete(directory);
        }
      }
    } catch (IOException | NumberFormatException e) {
      // Remaining directories are harmless.
    }
  }

  private static void end() {
    Processes.killAll();
    MADE.forEach(Directories::delete);
  }
}
