// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli.serve;

import io.timewheel.durable.DurableTimerBuilder;
import io.timewheel.server.settings.CommandException;
import io.timewheel.server.settings.Limits;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options for the limits of a server, and for the retention of finished timers. */
final class LimitOptions {
  @Option(
      names = "--limits",
      paramLabel = "FILE",
      description = "Limit queues, hosts and namespaces by this file; changes take effect at once.")
  private @Nullable Path limits;

  @Option(
      names = "--overdue-rate",
      paramLabel = "N",
      description = "Fire this many overdue timers per second (default: ${DEFAULT-VALUE}).",
      defaultValue = "10000")
  private int overdueRate = 10_000;

  @Option(
      names = "--max-waiting-claims",
      paramLabel = "N",
      description = "Limit waiting claims of this node (default: ${DEFAULT-VALUE}).",
      defaultValue = "12000")
  int maxWaitingClaims = 12_000;

  @Option(
      names = "--max-streams",
      paramLabel = "N",
      description = "Limit event streams of this node (default: ${DEFAULT-VALUE}).",
      defaultValue = "2000")
  int maxStreams = 2_000;

  @Option(
      names = "--retain",
      paramLabel = "DURATION",
      description = "Retain finished timers this long (default: ${DEFAULT-VALUE}).",
      defaultValue = "PT24H")
  private Duration retain = Duration.ofHours(24);

  @Option(
      names = "--retain-max",
      paramLabel = "N",
      description = "Retain at most this many finished timers (default: ${DEFAULT-VALUE}).",
      defaultValue = "1000000")
  private long retainMax = 1_000_000;

  /** {@return the limits of queues, webhook hosts and namespaces} */
  Limits ofFile() throws IOException {
    try {
      return limits == null ? Limits.none() : Limits.open(limits);
    } catch (IOException e) {
      throw new IOException("--limits: " + limits + ": " + CommandException.reason(e), e);
    }
  }

  /** Applies the retention and the catch-up rate to a scheduler. */
  void applyTo(DurableTimerBuilder builder) {
    builder.retain(retain, retainMax).overdueRate(overdueRate);
  }

  /** Refuses numbers that are out of range. */
  void check() {
    checkAtLeast("--overdue-rate", overdueRate, 1);
    checkAtLeast("--max-waiting-claims", maxWaitingClaims, 0);
    checkAtLeast("--max-streams", maxStreams, 0);
    checkAtLeast("--retain-max", retainMax, 0);
    if (retain.isNegative()) {
      throw CommandException.wrongUsage("--retain: " + retain + " is negative (minimum: PT0S)");
    }
  }

  private static void checkAtLeast(String option, long value, int minimum) {
    if (value < minimum) {
      throw CommandException.wrongUsage(
          option + ": " + value + " is too few (minimum: " + minimum + ")");
    }
  }
}
