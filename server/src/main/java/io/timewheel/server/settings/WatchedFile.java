// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.settings;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The content of a {@link SecretFile}. The file is checked at every use, so a change is effective
 * from the next use on. While the file cannot be read, the previous content stays in use, and the
 * log contains the reason.
 *
 * @param <T> the type of the parsed content
 */
public final class WatchedFile<T> {
  private static final Logger LOG = LoggerFactory.getLogger(WatchedFile.class);

  private final SecretFile file;
  private final List<SecretFile> alongside;
  private final Reader<T> reader;
  private volatile Known<T> known;

  /**
   * Parses a file. An error must not contain a secret, because it is logged.
   *
   * @param <T> the type of the parsed content
   */
  public interface Reader<T> {
    /** {@return the parsed content of the file} */
    T read(SecretFile file) throws IOException;
  }

  /**
   * The content, with the stamp of the file when it was read; the stamp is null if there was no
   * file.
   */
  private record Known<T>(@Nullable Object stamp, T content) {}

  /**
   * Reads the file for the first time.
   *
   * @param path its path
   * @param reader parses it
   * @throws IOException if it cannot be read
   */
  public WatchedFile(Path path, Reader<T> reader) throws IOException {
    this(path, List.of(), reader);
  }

  /**
   * Reads the file for the first time.
   *
   * @param path its path
   * @param alongside further files that the reader reads, and that may change
   * @param reader parses them
   * @throws IOException if the file cannot be read
   */
  public WatchedFile(Path path, List<Path> alongside, Reader<T> reader) throws IOException {
    this.file = new SecretFile(path);
    this.alongside = alongside.stream().map(SecretFile::new).toList();
    this.reader = reader;
    Object stamp = stamp();
    known = new Known<>(stamp, reader.read(file));
  }

  /** {@return the present content} */
  public T content() {
    Object stamp = stamp();
    if (!Objects.equals(stamp, known.stamp)) {
      refresh(stamp);
    }
    return known.content;
  }

  private synchronized void refresh(@Nullable Object stamp) {
    if (Objects.equals(stamp, known.stamp)) {
      return;
    }
    T content = known.content;
    try {
      content = reader.read(file);
      LOG.info("The changed {} is in use", file);
    } catch (IOException | RuntimeException e) {
      LOG.error("The previous content of {} stays in use: {}", file, e.toString());
    }
    known = new Known<>(stamp, content);
  }

  private @Nullable Object stamp() {
    if (alongside.isEmpty()) {
      return stamp(file);
    }
    Object[] stamps = new Object[1 + alongside.size()];
    stamps[0] = stamp(file);
    for (int i = 1; i < stamps.length; i++) {
      stamps[i] = stamp(alongside.get(i - 1));
    }
    return Arrays.asList(stamps);
  }

  private static @Nullable Object stamp(SecretFile file) {
    try {
      return file.stamp();
    } catch (IOException e) {
      return null;
    }
  }
}
