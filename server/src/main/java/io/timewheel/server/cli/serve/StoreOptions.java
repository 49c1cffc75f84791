// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli.serve;

import io.timewheel.server.settings.WorkLimits;
import io.timewheel.server.store.StoreLocation;
import java.nio.file.Path;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The options for the store of a server. */
final class StoreOptions {
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
      description = "Return 503 if the store takes longer (default: PT10S, min: PT1S, max: PT5M).",
      converter = StoreTimeoutConverter.class)
  Duration storeTimeout = WorkLimits.STORE_TIMEOUT;

  StoreLocation location() {
    return new StoreLocation(data, database.database());
  }

  /** Parses the store timeout. */
  private static final class StoreTimeoutConverter implements ITypeConverter<Duration> {
    private static final Duration MIN = Duration.ofSeconds(1);
    private static final Duration MAX = Duration.ofMinutes(5);

    @Override
    public Duration convert(String text) {
      try {
        Duration timeout = Duration.parse(text.strip());
        if (timeout.compareTo(MIN) >= 0 && timeout.compareTo(MAX) <= 0) {
          return timeout;
        }
      } catch (DateTimeParseException e) {
        // refused below, like a value out of range
      }
      throw new TypeConversionException(text + " (expected: " + MIN + " to " + MAX + ")");
    }
  }
}
