// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.security;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.jspecify.annotations.Nullable;

/**
 * The file of the audit log, the latest of ten. A new file replaces the oldest one. A line that
 * cannot be written whole is removed again. Thread-safe.
 */
public final class AuditFile implements AuditLog.Sink {
  private static final int FILES = 10;
  private static final long MIN_BYTES = 1 << 20;

  private final Path file;
  private final long maxBytes;

  /** Not a channel, which an interrupt of the writing thread would close. */
  private @Nullable RandomAccessFile open;

  /**
   * Opens the file, and creates it if it is absent.
   *
   * @param totalBytes the size of all files together
   * @throws IOException if it cannot be written, or the size is too small
   */
  public AuditFile(Path file, long totalBytes) throws IOException {
    if (totalBytes < MIN_BYTES) {
      throw new IOException(
          "--audit-log-size: " + totalBytes + " bytes are too few (minimum: 1MB)");
    }
    this.file = file;
    maxBytes = totalBytes / FILES;
    try {
      open = new RandomAccessFile(file.toFile(), "rw");
    } catch (IOException e) {
      throw new IOException("--audit-log: " + file + " cannot be written", e);
    }
  }

  @Override
  public synchronized void write(String line) throws IOException {
    byte[] bytes = (line + "\n").getBytes(UTF_8);
    RandomAccessFile latest = open == null ? new RandomAccessFile(file.toFile(), "rw") : open;
    open = latest;
    long size = latest.length();
    if (size > 0 && size + bytes.length > maxBytes) {
      open = null;
      latest.close();
      for (int i = FILES - 1; i > 0; i--) {
        Path from = i == 1 ? file : numbered(i - 1);
        if (Files.exists(from)) {
          Files.move(from, numbered(i), StandardCopyOption.REPLACE_EXISTING);
        }
      }
      write(line);
      return;
    }
    try {
      latest.seek(size);
      latest.write(bytes);
    } catch (IOException e) {
      try {
        latest.setLength(size);
      } catch (IOException f) {
        e.addSuppressed(f);
      }
      throw e;
    }
  }

  private Path numbered(int number) {
    return file.resolveSibling(file.getFileName() + "." + number);
  }
}
