// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli.serve;

import io.timewheel.server.settings.CommandException;
import io.timewheel.server.settings.WorkLimits;
import io.timewheel.server.store.StoreLocation;
import java.nio.file.Path;
import java.time.Duration;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;

/** The options for the store of a server. */
final class StoreOptions {
  private static final Duration MIN_TIMEOUT = Duration.ofSeconds(1);
  private static final Duration MAX_TIMEOUT = Duration.ofMinutes(5);

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "Store timers in this directory (default: ${DEFAULT-VALUE}).",
      defaultValue = "./timewheel-data")
  private Path data = Path.of("timewheel-data");

  @ArgGroup(exclusive = false)
  private DatabaseOptions database = new DatabaseOptions();

  @Option(names = "--observe", description = "Own no shards and call no URLs (needs --store).")
  boolean observe;

  @Option(
      names = "--store-timeout",
      paramLabel = "DURATION",
      description = "Return 503 if the store takes longer (default: PT10S, min: PT1S, max: PT5M).")
  Duration storeTimeout = WorkLimits.STORE_TIMEOUT;

  StoreLocation location() {
    return new StoreLocation(data, database.database());
  }

  /** Refuses values that are out of range. */
  void check() {
    if (storeTimeout.compareTo(MIN_TIMEOUT) < 0 || storeTimeout.compareTo(MAX_TIMEOUT) > 0) {
      throw CommandException.wrongUsage(
          "--store-timeout: %s (expected: %s to %s)"
              .formatted(storeTimeout, MIN_TIMEOUT, MAX_TIMEOUT));
    }
  }
}
