// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.store;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes a backup when a period has passed since the last one, even across restarts, and deletes its
 * oldest backups. Backups that callers have made are kept. Not thread-safe: one thread calls this
 * class.
 */
public final class BackupSchedule {
  private static final Logger LOG = LoggerFactory.getLogger(BackupSchedule.class);
  private static final Duration RETRY = Duration.ofMinutes(1);

  /** The beginning of the names of scheduled backups, which no other backup may have. */
  public static final String PREFIX = "auto-";

  private final Path data;
  private final Plan plan;
  private final Copy copy;
  private final InstantSource clock;
  private final LongAdder failures;
  private Instant notBefore = Instant.MIN;

  /** The period of a schedule, and the number of backups to keep. */
  public record Plan(Duration every, int keep) {}

  /** Makes a backup with a name. */
  public interface Copy {
    void make(String name) throws IOException;
  }

  /** Creates a schedule that counts its failed attempts. */
  public BackupSchedule(Path data, Plan plan, Copy copy, InstantSource clock, LongAdder failures) {
    this.data = data;
    this.plan = plan;
    this.copy = copy;
    this.clock = clock;
    this.failures = failures;
  }

  /** {@return whether a backup is one of a schedule} */
  public static boolean isAutomatic(String name) {
    return timeOf(name) != null;
  }

  private static String name(Instant time) {
    return PREFIX + time.truncatedTo(ChronoUnit.SECONDS).toString().replace(':', '-');
  }

  private static @Nullable Instant timeOf(String name) {
    if (!name.startsWith(PREFIX)) {
      return null;
    }
    String[] parts = name.substring(PREFIX.length()).split("T", 2);
    try {
      return parts.length == 2 ? Instant.parse(parts[0] + "T" + parts[1].replace('-', ':')) : null;
    } catch (DateTimeParseException e) {
      return null;
    }
  }

  /** Makes a backup if it is due, and deletes the oldest ones above the limit. */
  public void run() {
    Instant now = clock.instant();
    if (now.isBefore(notBefore) && !notBefore.isAfter(now.plus(RETRY))) {
      return;
    }
    try {
      List<String> made = automatic(now);
      Instant last = made.isEmpty() ? null : timeOf(made.get(made.size() - 1));
      if (last == null || last.isAfter(now) || !now.isBefore(last.plus(plan.every))) {
        copy.make(name(now));
        made = automatic(now);
      }
      for (String old : made.subList(0, Math.max(0, made.size() - plan.keep))) {
        TemporaryFiles.delete(data.resolve(StoreCopies.FOLDER).resolve(old));
      }
    } catch (IOException | RuntimeException | Error e) { // an Error would end the schedule
      failures.increment();
      notBefore = now.plus(RETRY);
      LOG.error("a scheduled backup failed; retrying in a minute", e);
    }
  }

  /**
   * Returns the backups of a schedule, oldest first. Backups with a time in the future come first:
   * the clock was ahead when they were made.
   */
  private List<String> automatic(Instant now) throws IOException {
    return StoreCopies.backups(data).stream()
        .filter(BackupSchedule::isAutomatic)
        .sorted(
            Comparator.comparing((String name) -> name.compareTo(name(now)) <= 0)
                .thenComparing(Comparator.naturalOrder()))
        .toList();
  }
}
