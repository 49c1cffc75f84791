// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.jdbc.JdbcTimerStore;
import io.timewheel.server.cli.StoreCommand.Written;
import io.timewheel.server.cli.serve.DatabaseOptions;
import io.timewheel.server.settings.CommandException;
import io.timewheel.server.settings.ExitCode;
import io.timewheel.server.settings.SecretFile;
import io.timewheel.server.settings.Settings;
import io.timewheel.server.store.SharedDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
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
      "Copy all timers into a new directory, or into a database without timers.",
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

  @Option(names = "--to-data", paramLabel = "DIR", description = "Copy into this new directory.")
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
    // The target is opened first: a running server makes no copy for a target that fails.
    Written copied =
        toData == null
            ? DatabaseOptions.using(
                new SharedDatabase(target, toStoreUser, this::password),
                store -> copy(from, store, target))
            : from.filling(toData, store -> from.reading(source -> from.copy(source, store, null)));
    from.done(
        ApiClient.JSON.createObjectNode().put("timers", copied.timers()).put("target", target),
        "%,d timers copied to %s".formatted(copied.timers(), target));
    return copied.exitCode();
  }

  private String target(StoreCommand from) throws IOException {
    if ((toData == null) == (toStore == null)) {
      throw CommandException.wrongUsage("--to-data, --to-store: (expected: one of them)");
    }
    if (toStore != null) {
      DatabaseOptions database = from.database();
      checkIsNotSource(database != null && toStore.equals(database.url()), toStore);
      return toStore;
    }
    if (toStoreUser != null || toStorePasswordFile != null) {
      throw CommandException.wrongUsage(
          "--to-store-user, --to-store-password-file: not used by --to-data (expected:"
              + " --to-store)");
    }
    Path directory = requireNonNull(toData);
    checkIsNotSource(from.isSource(directory), directory.toString());
    if (Files.exists(directory, LinkOption.NOFOLLOW_LINKS)) {
      throw new CommandException(
          ExitCode.CONFLICT,
          directory
              + " already exists (expected: a new directory; `store export` and `store import` add"
              + " timers to a store)");
    }
    return directory.toString();
  }

  private static void checkIsNotSource(boolean isSource, String target) {
    if (isSource) {
      throw CommandException.wrongUsage(target + " is also the source (expected: another target)");
    }
  }

  private static Written copy(StoreCommand from, JdbcTimerStore store, String target)
      throws IOException {
    long present = StoreCommand.timers(store);
    // A repeated copy must not bring back timers that the target has fired and purged.
    if (present > 0 && !store.hasUnfinishedImport()) {
      throw new CommandException(
          ExitCode.CONFLICT,
          "%s contains %,d timers (expected: none, or those of an unfinished copy; drop its tables, or add timers with `store export` and `store import`)"
              .formatted(target, present));
    }
    return from.reading(source -> from.copy(source, store, target));
  }

  private @Nullable String password() throws IOException {
    return toStorePasswordFile == null
        ? System.getenv(Settings.TO_STORE_PASSWORD)
        : new SecretFile(toStorePasswordFile).read().strip();
  }
}
