// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.file;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Creates directories that only their owner may read and write, because their files contain
 * payloads and headers of timers. Does nothing on file systems without POSIX permissions.
 */
public final class OwnerOnly {
  private static final Set<PosixFilePermission> DIRECTORY =
      PosixFilePermissions.fromString("rwx------");
  private static final Set<PosixFilePermission> FILE = PosixFilePermissions.fromString("rw-------");

  private OwnerOnly() {}

  /** Creates a directory unless it exists. Missing parents get the default permissions. */
  public static void createDirectory(Path directory) throws IOException {
    if (Files.isDirectory(directory)) {
      return;
    }
    Path parent = directory.toAbsolutePath().getParent();
    if (parent != null) {
      Files.createDirectories(parent);
    }
    boolean posix = directory.getFileSystem().supportedFileAttributeViews().contains("posix");
    FileAttribute<?>[] attributes =
        posix
            ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(DIRECTORY)}
            : new FileAttribute<?>[0];
    Files.createDirectories(directory, attributes); // another process may have created it
  }

  /**
   * Removes the permissions of other users from a directory and everything in it.
   *
   * @return the number of files and directories that other users had permissions for
   */
  public static int restrict(Path directory) throws IOException {
    if (!directory.getFileSystem().supportedFileAttributeViews().contains("posix")) {
      return 0;
    }
    List<Path> all;
    try (Stream<Path> found = Files.walk(directory)) {
      all = found.filter(path -> path.equals(directory) || !Files.isSymbolicLink(path)).toList();
    }
    int restricted = 0;
    for (Path path : all) {
      PosixFileAttributeView view = Files.getFileAttributeView(path, PosixFileAttributeView.class);
      Set<PosixFilePermission> wanted =
          Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS) || path.equals(directory)
              ? DIRECTORY
              : FILE;
      if (!wanted.containsAll(view.readAttributes().permissions())) {
        view.setPermissions(wanted);
        restricted++;
      }
    }
    return restricted;
  }
}
