// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.rocksdb.RocksTimerStore;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.server.cli.StoreCommand.Written;
import io.timewheel.server.settings.SecretFile;
import io.timewheel.server.settings.Settings;
import io.timewheel.server.store.SharedDatabase;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** Copies timers between a directory and a database, or two of them. */
@Command(
    name = "copy",
    description = {
      "Copy all timers into another directory or database; the newer version wins.",
      "After a failure, copy again. Stored answers of Idempotency-Key are not copied.",
      "Stop the servers of both first; otherwise both stores fire the timers."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  timewheel store copy --data ./timewheel-data --to-store-user timewheel \\",
      "      --to-store jdbc:postgresql://db.example/timewheel",
      "  timewheel store copy --store jdbc:mariadb://db/timewheel --to-data ./copy"
    })
final class CopyCommand implements Callable<Integer> {
  @ParentCommand private @Nullable StoreCommand parent;

  @Option(
      names = "--to-data",
      paramLabel = "DIR",
      description = "Copy into this directory; create it if it is missing.")
  private @Nullable Path toData;

  @Option(
      names = "--to-store",
      paramLabel = "URL",
      description = "Copy into this database, after `store migrate`.",
      converter = DatabaseOptions.UrlConverter.class)
  private @Nullable String toStore;

  @Option(
      names = "--to-store-user",
      paramLabel = "USER",
      description = "Connect to the target database as this user.")
  private @Nullable String toStoreUser;

  @Option(
      names = "--to-store-password-file",
      paramLabel = "FILE",
      description = "Read its password from this file (or set TIMEWHEEL_TO_STORE_PASSWORD).")
  private @Nullable Path toStorePasswordFile;

  @Override
  public Integer call() throws IOException {
    StoreCommand from = requireNonNull(parent);
    String target = target(from);
    return from.reading(source -> copy(from, source, target));
  }

  /** {@return the target for messages} */
  private String target(StoreCommand from) {
    if ((toData == null) == (toStore == null)) {
      throw new CommandException(ExitCode.USAGE, "--to-data, --to-store: (expected: one of them)");
    }
    DatabaseOptions database = from.database();
    boolean isSource =
        toData != null
            ? from.isSource(toData)
            : database != null && requireNonNull(toStore).equals(database.url());
    String target = toData == null ? requireNonNull(toStore) : toData.toString();
    if (isSource) {
      throw new CommandException(
          ExitCode.USAGE, target + " is the source, too (expected: another target)");
    }
    return target;
  }

  private int copy(StoreCommand from, TimerStore source, String target) throws IOException {
    if (toData != null) {
      try (RocksTimerStore store = StoreCommand.open(toData)) {
        return copy(from, source, store, target);
      }
    }
    SharedDatabase database =
        new SharedDatabase(requireNonNull(toStore), toStoreUser, this::password);
    return DatabaseOptions.using(database, store -> copy(from, source, store, target));
  }

  private @Nullable String password() throws IOException {
    return toStorePasswordFile == null
        ? System.getenv(Settings.TO_STORE_PASSWORD)
        : new SecretFile(toStorePasswordFile).read().strip();
  }

  private static int copy(StoreCommand from, TimerStore source, TimerStore to, String target) {
    TransferProgress progress = from.progress(source);
    Written copied;
    try {
      copied = from.copy(source, to, progress);
    } catch (RuntimeException e) {
      if (progress.timers() == 0) {
        throw e;
      }
      throw new CommandException(
          ExitCode.FAILED,
          "%s; %s lacks timers: copy again before starting a server on it (%,d timers were copied)"
              .formatted(Timewheel.reason(e), target, progress.timers()));
    }
    from.done(
        ApiClient.JSON.createObjectNode().put("timers", copied.timers()).put("target", target),
        "%,d timers copied to %s".formatted(copied.timers(), target));
    return copied.exitCode();
  }
}
