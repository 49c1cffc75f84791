// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.settings;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The content of a {@link SecretFile}. The file is checked at every use, so a change is effective
 * from the next use on. While the file cannot be read, the previous content stays in use, and the
 * log contains the reason. It is read again after a change, and a second after a failure.
 */
public final class WatchedFile<T> {
  private static final Logger LOG = LoggerFactory.getLogger(WatchedFile.class);
  private static final Duration RETRY = Duration.ofSeconds(1);

  private final SecretFile file;
  private final List<SecretFile> alongside;
  private final Reader<T> reader;
  private final InstantSource clock;
  private volatile Known<T> known;

  /** Parses a file. An error must not contain a secret, because it is logged. */
  public interface Reader<T> {
    /** {@return the parsed content of the file} */
    T read(SecretFile file) throws IOException;
  }

  /**
   * The content, with the stamp of the file when it was last tried; the stamp is null if there was
   * no file.
   *
   * @param triedAt the time of the last try
   * @param failingSince the time of the first failed try after the last successful one, or null
   */
  private record Known<T>(
      @Nullable Object stamp, T content, Instant triedAt, @Nullable Instant failingSince) {}

  /**
   * Reads the file for the first time.
   *
   * @param alongside further files that the reader reads, and that may change
   */
  public WatchedFile(Path path, List<Path> alongside, Reader<T> reader, InstantSource clock)
      throws IOException {
    this.file = new SecretFile(path);
    this.alongside = alongside.stream().map(SecretFile::new).toList();
    this.reader = reader;
    this.clock = clock;
    Object stamp = stamp();
    known = new Known<>(stamp, reader.read(file), clock.instant(), null);
  }

  public T content() {
    return present().content;
  }

  /** {@return the time since which the file cannot be read; null if its content is present} */
  public @Nullable Instant failingSince() {
    return present().failingSince;
  }

  private Known<T> present() {
    Object stamp = stamp();
    return isPresent(stamp) ? known : refresh(stamp);
  }

  private boolean isPresent(@Nullable Object stamp) {
    Known<T> last = known;
    return Objects.equals(stamp, last.stamp)
        && (last.failingSince == null || clock.instant().isBefore(last.triedAt.plus(RETRY)));
  }

  private synchronized Known<T> refresh(@Nullable Object stamp) {
    Known<T> last = known;
    if (isPresent(stamp)) {
      return last;
    }
    Instant now = clock.instant();
    try {
      file.checkNoPipe();
      known = new Known<>(stamp, reader.read(file), now, null);
      LOG.info("The changed {} is in use", file);
    } catch (IOException | RuntimeException e) {
      if (last.failingSince == null || !Objects.equals(stamp, last.stamp)) {
        String reason = e instanceof IOException ? e.toString() : e.getClass().getName();
        LOG.error("The previous content of {} stays in use: {}", file, reason);
      }
      Instant since = last.failingSince == null ? now : last.failingSince;
      known = new Known<>(stamp, last.content, now, since);
    }
    return known;
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
