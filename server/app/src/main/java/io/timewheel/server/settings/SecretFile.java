// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.settings;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
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
  /** The character that replaces bytes that are not UTF-8. */
  public static final String REPLACEMENT = "\uFFFD";

  private static final Set<PosixFilePermission> REFUSED =
      Set.of(
          PosixFilePermission.GROUP_WRITE,
          PosixFilePermission.OTHERS_READ,
          PosixFilePermission.OTHERS_WRITE);

  private final Path file;

  /** Refers to a file, without access to it. */
  public SecretFile(Path file) {
    this.file = requireNonNull(file, "file");
  }

  /** {@return the content; throws if other users could read it} */
  public String read() throws IOException {
    String text = readReplacing();
    if (text.contains(REPLACEMENT)) {
      throw new FileSystemException(file.toString(), null, "cannot be read: it is not UTF-8");
    }
    return text;
  }

  /** {@return the content, with {@link #REPLACEMENT} for bytes that are not UTF-8} */
  public String readReplacing() throws IOException {
    check();
    try {
      return new String(Files.readAllBytes(file), UTF_8);
    } catch (IOException e) {
      throw new FileSystemException(file.toString(), null, "cannot be read: " + e.getMessage());
    }
  }

  /** Checks that the file exists, and that other users cannot read it. */
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

  /** Checks that the file is no pipe or device, whose reader could wait forever. */
  void checkNoPipe() throws IOException {
    if (Files.readAttributes(file, BasicFileAttributes.class).isOther()) {
      throw new FileSystemException(file.toString(), null, "is a pipe or a device");
    }
  }

  /** {@return a value that changes when the file is changed or replaced} */
  public Object stamp() throws IOException {
    String attributes = "lastModifiedTime,size,fileKey";
    return Map.copyOf(
        Files.readAttributes(file, isPosix() ? "posix:permissions," + attributes : attributes));
  }

  /** Creates the file, empty and only for its owner, unless it exists. */
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

  @Override
  public String toString() {
    return file.toString();
  }
}
