// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.file;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.File;
import java.io.IOException;
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
public final class VersionFloor {
  public static final String FILE = "VERSIONS";
  private static final String FORMAT = "timewheel-versions 1 ";
  private static final long RESERVED_AT_ONCE = 100_000;

  private final Path directory;
  private final Sync sync;
  private long reserved;

  /** Forces a file, or the entries of a directory, to disk. */
  interface Sync {
    void force(Path path) throws IOException;
  }

  public VersionFloor(Path directory) throws IOException {
    this(directory, VersionFloor::force);
  }

  VersionFloor(Path directory, Sync sync) throws IOException {
    this.directory = directory;
    this.sync = sync;
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
  public long reserved() {
    return reserved;
  }

  /** Before a version is given. */
  public void reserve(long version) throws IOException {
    if (version > reserved) {
      write(version + RESERVED_AT_ONCE);
    }
  }

  /** When all that was given is on disk. */
  public void giveBack(long lastVersion) throws IOException {
    if (lastVersion != reserved) {
      write(lastVersion);
    }
  }

  /**
   * The content is on disk before the file has its name, so that it is never read half written; the
   * name is before a version counts as reserved, so that a power cut cannot bring back the file
   * before it.
   */
  private void write(long version) throws IOException {
    Path next = directory.resolve(FILE + ".next");
    Files.writeString(next, FORMAT + version + "\n", UTF_8);
    sync.force(next);
    Files.move(next, directory.resolve(FILE), StandardCopyOption.ATOMIC_MOVE);
    sync.force(directory);
    reserved = version;
  }

  private static void force(Path path) throws IOException {
    boolean directory = Files.isDirectory(path);
    if (directory && File.separatorChar == '\\') {
      return; // Windows does not open a directory, and keeps a journal of names
    }
    try (FileChannel channel =
        FileChannel.open(path, directory ? StandardOpenOption.READ : StandardOpenOption.WRITE)) {
      channel.force(true);
    }
  }
}
