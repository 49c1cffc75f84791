// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.settings;

import java.io.IOException;
import java.nio.file.Path;
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
    this.file = new SecretFile(path);
    this.reader = reader;
    Object stamp = stamp(file);
    known = new Known<>(stamp, reader.read(file));
  }

  /** {@return what it holds} */
  public T content() {
    Object stamp = stamp(file);
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
    } catch (IOException e) {
      LOG.error("What {} held before stays in force: {}", file, e.toString());
    }
    known = new Known<>(stamp, content);
  }

  private static @Nullable Object stamp(SecretFile file) {
    try {
      return file.stamp();
    } catch (IOException e) {
      return null;
    }
  }
}
