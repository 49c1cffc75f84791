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
 * What a {@link SecretFile} holds. The file is looked at with every use, so a change holds from the
 * next one on. While it cannot be read, what it held before stays in force, and the log says why.
 *
 * @param <T> what is made of the text
 */
public final class WatchedFile<T> {
  private static final Logger LOG = LoggerFactory.getLogger(WatchedFile.class);

  private final SecretFile file;
  private final List<SecretFile> alongside;
  private final Reader<T> reader;
  private volatile Known<T> known;

  /**
   * Makes something of a file; an error shows nothing secret, because it is logged.
   *
   * @param <T> what is made
   */
  public interface Reader<T> {
    /** {@return what the file holds} */
    T read(SecretFile file) throws IOException;
  }

  /** What the file held when it looked like this; the stamp is null if there was none. */
  private record Known<T>(@Nullable Object stamp, T content) {}

  /**
   * Reads the file for the first time.
   *
   * @param path where it is
   * @param reader makes something of it
   * @throws IOException if it cannot be read
   */
  public WatchedFile(Path path, Reader<T> reader) throws IOException {
    this(path, List.of(), reader);
  }

  /**
   * Reads the file for the first time.
   *
   * @param path where it is
   * @param alongside further files that the reader reads, and that may change
   * @param reader makes something of them
   * @throws IOException if it cannot be read
   */
  public WatchedFile(Path path, List<Path> alongside, Reader<T> reader) throws IOException {
    this.file = new SecretFile(path);
    this.alongside = alongside.stream().map(SecretFile::new).toList();
    this.reader = reader;
    Object stamp = stamp();
    known = new Known<>(stamp, reader.read(file));
  }

  /** {@return what it holds} */
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
      LOG.info("{} was changed, and is in force", file);
    } catch (IOException | RuntimeException e) {
      LOG.error("What {} held before stays in force: {}", file, e.toString());
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
