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
 * Prevents two timers from getting the same version after the end of the log is lost. A file next
 * to the database contains the highest reserved version. Versions are reserved in large blocks, so
 * the file is rarely written. A close returns the unused rest.
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
      // Treated like any other invalid text.
    }
    throw new IOException(FILE + " does not contain \"" + FORMAT + "…\"");
  }

  /** {@return the highest version that may have been used} */
  public long reserved() {
    return reserved;
  }

  /** Reserves a version before it is used. */
  public void reserve(long version) throws IOException {
    if (version > reserved) {
      write(version + RESERVED_AT_ONCE);
    }
  }

  /** Returns the unused versions. All used ones must be on disk. */
  public void giveBack(long lastVersion) throws IOException {
    if (lastVersion != reserved) {
      write(lastVersion);
    }
  }

  /**
   * Writes the file in two synced steps. The content reaches the disk before the file gets its
   * name, so no reader sees an incomplete file. The name reaches the disk before a version counts
   * as reserved, so a power cut cannot restore the previous file.
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
      return; // Windows cannot open a directory, and its file system journals names
    }
    try (FileChannel channel =
        FileChannel.open(path, directory ? StandardOpenOption.READ : StandardOpenOption.WRITE)) {
      channel.force(true);
    }
  }
}
