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
 * The temporary directories of servers. Each is named after the process that made it: what a JVM
 * could not delete because it was killed, a later one does.
 */
final class Directories {
  static final String UNPRIVILEGED = "nobody";

  /** By number: its name differs between systems. */
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

  /** {@return the directory that all the others are in} */
  static Path parent() {
    return PARENT;
  }

  /** Makes a directory that an unprivileged server can write to. */
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

  /** Deletes a directory and all that is in it, as far as it can be. */
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
        // A server that is dying may still write.
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
      // They are in nobody's way.
    }
  }

  private static void end() {
    Processes.killAll();
    MADE.forEach(Directories::delete);
  }
}
