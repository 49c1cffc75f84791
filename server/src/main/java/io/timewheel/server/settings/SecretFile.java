// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.settings;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
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
 * A file that contains a secret. Its group may read it, other users may not, and only its owner may
 * write it.
 */
public final class SecretFile {
  private static final Set<PosixFilePermission> REFUSED =
      Set.of(
          PosixFilePermission.GROUP_WRITE,
          PosixFilePermission.OTHERS_READ,
          PosixFilePermission.OTHERS_WRITE);

  private final Path file;

  /**
   * Refers to a file, without access to it.
   *
   * @param file its path
   */
  public SecretFile(Path file) {
    this.file = requireNonNull(file, "file");
  }

  /**
   * Reads the file.
   *
   * @return its content
   * @throws IOException if it cannot be read, or if other users could read it
   */
  public String read() throws IOException {
    check();
    try {
      return Files.readString(file);
    } catch (IOException e) {
      String reason = e instanceof CharacterCodingException ? "it is not UTF-8" : e.getMessage();
      throw new FileSystemException(file.toString(), null, "cannot be read: " + reason);
    }
  }

  /**
   * Checks that the file exists, and that its permissions are restricted.
   *
   * @throws IOException if it cannot be read, or if other users could read it
   */
  public void check() throws IOException {
    if (!Files.isReadable(file)) {
      throw new FileSystemException(
          file.toString(), null, "there is no such file, or it may not be read");
    }
    PosixFileAttributeView view = Files.getFileAttributeView(file, PosixFileAttributeView.class);
    if (view != null && !Collections.disjoint(view.readAttributes().permissions(), REFUSED)) {
      throw new FileSystemException(
          file.toString(), null, "other users may read or change it (expected: chmod 600, or 640)");
    }
  }

  /**
   * Reads the attributes of the file.
   *
   * @return a value that changes when the file is changed or replaced
   * @throws IOException if there is no such file
   */
  public Object stamp() throws IOException {
    String attributes = "lastModifiedTime,size,fileKey";
    return Map.copyOf(
        Files.readAttributes(file, isPosix() ? "posix:permissions," + attributes : attributes));
  }

  /**
   * Creates the file, empty and only for its owner, unless it exists.
   *
   * @throws IOException if it cannot be created
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

  /** {@return its path} */
  @Override
  public String toString() {
    return file.toString();
  }
}
