// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * Keeps versions from being given twice when the end of the log is lost: a file beside the database
 * says up to which they were reserved. They are reserved many at a time, so it is rarely written; a
 * close gives back the rest.
 */
final class VersionFloor {
  static final String FILE = "VERSIONS";
  private static final String FORMAT = "timewheel-versions 1 ";
  private static final long RESERVED_AT_ONCE = 100_000;

  private final Path directory;
  private long reserved;

  VersionFloor(Path directory) throws IOException {
    this.directory = directory;
    Path file = directory.resolve(FILE);
    if (Files.exists(file)) {
      reserved = parse(Files.readString(file, UTF_8));
    }
  }

  private static long parse(String text) throws IOException {
    try {
      if (text.startsWith(FORMAT)) {
        return Long.parseLong(text.substring(FORMAT.length()).trim());
      }
    } catch (NumberFormatException e) {
      // As any other text.
    }
    throw new IOException(FILE + " does not say \"" + FORMAT + "…\"");
  }

  /** {@return the last version that may have been given} */
  long reserved() {
    return reserved;
  }

  /** Before a version is given. */
  void reserve(long version) throws IOException {
    if (version > reserved) {
      write(version + RESERVED_AT_ONCE);
    }
  }

  /** When all that was given is on disk. */
  void giveBack(long lastVersion) throws IOException {
    if (lastVersion != reserved) {
      write(lastVersion);
    }
  }

  private void write(long version) throws IOException {
    Path next = directory.resolve(FILE + ".next");
    try (FileChannel file =
        FileChannel.open(
            next,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      ByteBuffer bytes = UTF_8.encode(FORMAT + version + "\n");
      while (bytes.hasRemaining()) {
        file.write(bytes);
      }
      file.force(true);
    }
    Files.move(next, directory.resolve(FILE), StandardCopyOption.ATOMIC_MOVE);
    reserved = version;
  }
}
