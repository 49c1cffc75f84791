// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli.serve;

import io.timewheel.server.settings.CommandException;
import io.timewheel.server.store.BackupSchedule;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of scheduled backups. */
final class BackupOptions {
  @Option(
      names = "--backup-every",
      paramLabel = "DURATION",
      description = "Back up the data directory this often (default: never, min: PT1M).")
  private @Nullable Duration backupEvery;

  @Option(
      names = "--backup-keep",
      paramLabel = "N",
      description = "Keep this many scheduled backups (default: ${DEFAULT-VALUE}).",
      defaultValue = "8")
  private int backupKeep = 8;

  /** {@return the schedule of backups; null if there is none} */
  BackupSchedule.@Nullable Plan plan() {
    Duration every = backupEvery;
    if (every == null) {
      return null;
    }
    if (every.compareTo(Duration.ofMinutes(1)) < 0) {
      throw CommandException.wrongUsage(
          "--backup-every: " + every + " is too short (minimum: PT1M)");
    }
    if (backupKeep < 1) {
      throw CommandException.wrongUsage(
          "--backup-keep: " + backupKeep + " is too few (minimum: 1)");
    }
    return new BackupSchedule.Plan(every, backupKeep);
  }
}
