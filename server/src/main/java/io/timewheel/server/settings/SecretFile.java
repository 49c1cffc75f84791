// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.settings;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Collections;
import java.util.Map;
import java.util.Set;

/**
 * A file with a secret in it: its group may read it, others may not, and its owner alone writes.
 */
public final class SecretFile {
  private static final Set<PosixFilePermission> REFUSED =
      Set.of(
          PosixFilePermission.GROUP_WRITE,
          PosixFilePermission.OTHERS_READ,
          PosixFilePermission.OTHERS_WRITE);

  private final Path file;

  /**
   * Names the file, without a look at it.
   *
   * @param file where it is
   */
  public SecretFile(Path file) {
    this.file = requireNonNull(file, "file");
  }

  /**
   * Reads the file.
   *
   * @return its content
   * @throws IOException if it cannot be read, or if others could
   */
  public String read() throws IOException {
    check();
    return Files.readString(file);
  }

  /**
   * Checks that the file is there, and for whom.
   *
   * @throws IOException if it cannot be read, or if others could
   */
  public void check() throws IOException {
    if (!Files.isReadable(file)) {
      throw new FileSystemException(
          file.toString(), null, "there is no such file, or it may not be read");
    }
    PosixFileAttributeView view = Files.getFileAttributeView(file, PosixFileAttributeView.class);
    if (view != null && !Collections.disjoint(view.readAttributes().permissions(), REFUSED)) {
      throw new FileSystemException(
          file.toString(), null, "others may read or change it (expected: chmod 600, or 640)");
    }
  }

  /**
   * Looks at the file from outside.
   *
   * @return what differs once the file was changed or replaced
   * @throws IOException if there is no such file
   */
  public Object stamp() throws IOException {
    String attributes = "lastModifiedTime,size,fileKey";
    return Map.copyOf(
        Files.readAttributes(file, isPosix() ? "posix:permissions," + attributes : attributes));
  }

  /**
   * Makes the file, empty and for its owner alone, unless it is there.
   *
   * @throws IOException if it cannot be made
   */
  public void create() throws IOException {
    if (Files.notExists(file)) {
      FileAttribute<?>[] owner =
          isPosix()
              ? new FileAttribute<?>[] {
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
              }
              : new FileAttribute<?>[0];
      Files.createFile(file, owner);
    }
  }

  private boolean isPosix() {
    return file.getFileSystem().supportedFileAttributeViews().contains("posix");
  }

  /** {@return where it is} */
  @Override
  public String toString() {
    return file.toString();
  }
}
