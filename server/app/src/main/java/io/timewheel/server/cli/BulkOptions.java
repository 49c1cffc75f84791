// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import io.timewheel.api.BulkRequest;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The parameters of a bulk command: a timer or, without an ID, the filter, and the expected number
 * of timers or {@code --force}.
 */
final class BulkOptions {
  @Parameters(index = "0", paramLabel = "NAMESPACE", description = "Namespace of the timer.")
  String namespace = "";

  @Parameters(index = "1", paramLabel = "ID", arity = "0..1", description = "ID of the timer.")
  @Nullable String id;

  @Mixin private FilterOptions filter = new FilterOptions();

  @Option(
      names = "--expect",
      paramLabel = "N",
      description = "Without ID: change nothing unless N timers match.")
  private @Nullable Long expect;

  @Option(names = "--force", description = "Without ID: change any number of timers.")
  private boolean force;

  /** {@return the error if these options cannot be used with an ID; null if there is none} */
  @Nullable String faultWithId() {
    return !filter.filter().equals(BulkRequest.Filter.ALL) || expect != null || force
        ? "an ID together with options for many timers (expected: one of them)"
        : null;
  }

  /** {@return the error if these options cannot be used without an ID; null if there is none} */
  @Nullable String faultWithoutId() {
    if (expect != null && force) {
      return "--expect together with --force (expected: one of them)";
    }
    return expect != null || force
        ? null
        : "neither an ID nor the number of timers (expected: ID, --expect N or --force)";
  }

  BulkRequest request() {
    return new BulkRequest(filter.filter(), expect, force ? Boolean.TRUE : null);
  }
}
