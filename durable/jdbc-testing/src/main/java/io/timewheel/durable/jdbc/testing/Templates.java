// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.testing;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;

/**
 * Keeps the data of new servers, because a server takes seconds to create its data, and a copy
 * takes a tenth of a second. All JVMs of a user share the templates, which remain in the temporary
 * directory. A new version of a server has another template. A template is made again after a day:
 * the system may have deleted some of its files by then.
 *
 * <p>All copies of a PostgreSQL template have the same system identifier.
 */
final class Templates {
  private static final String PREFIX = "timewheel-template-";
  private static final String DATA = "data";

  private Templates() {}

  /** Creates data in a directory that does not exist yet. */
  interface Maker {
    void make(Path data) throws IOException, InterruptedException;
  }

  /**
   * Copies the template of a server, and creates it first if needed.
   *
   * @param program the binary that creates the data
   * @param data the directory of the copy, which does not exist yet
   */
  @SuppressWarnings("try") // the lock is held, not used
  static void copy(Path program, Path log, Path data, Maker maker)
      throws IOException, InterruptedException {
    synchronized (Templates.class) { // a JVM can lock the file once
      Path template = Directories.parent().resolve(PREFIX + id(program));
      Path lock = Directories.parent().resolve(PREFIX + id(program) + ".lock");
      try (FileChannel channel =
              FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
          FileLock unused = channel.lock()) {
        if (Files.exists(template) && isOld(template)) {
          Directories.delete(template);
        }
        if (!Files.exists(template)) {
          Path made = Directories.create();
          maker.make(made.resolve(DATA));
          Files.move(made, template); // last, so that a template is complete
        }
        Processes.run(
            log,
            List.of(
                "cp",
                "-R",
                "--preserve=mode,timestamps",
                "--sparse=always",
                template.resolve(DATA).toString(),
                data.toString()));
      }
    }
  }

  private static boolean isOld(Path template) throws IOException {
    Instant made = Files.getLastModifiedTime(template).toInstant();
    return made.isBefore(Instant.now().minus(Duration.ofDays(1)));
  }

  private static String id(Path program) throws IOException {
    Path real = program.toRealPath();
    return "%s-%s-%x"
        .formatted(
            System.getProperty("user.name"),
            program.getFileName(),
            Objects.hash(real.toString(), Files.getLastModifiedTime(real).toMillis()));
  }
}
