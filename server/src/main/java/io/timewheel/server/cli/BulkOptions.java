// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import io.timewheel.api.BulkRequest;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
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

  @Option(names = "--state", paramLabel = "STATE", description = "Without ID: only this state.")
  private @Nullable String state;

  @Option(
      names = "--prefix",
      paramLabel = "TEXT",
      description = "Without ID: only IDs with this prefix.")
  private @Nullable String prefix;

  @Option(
      names = "--due-from",
      paramLabel = "INSTANT",
      description = "Without ID: only timers due from this instant on.")
  private @Nullable Instant dueFrom;

  @Option(
      names = "--due-to",
      paramLabel = "INSTANT",
      description = "Without ID: only timers due before this instant.")
  private @Nullable Instant dueTo;

  @Option(names = "--handler", paramLabel = "NAME", description = "Without ID: only this handler.")
  private @Nullable String handler;

  @Option(names = "--queue", paramLabel = "NAME", description = "Without ID: only this queue.")
  private @Nullable String queue;

  @Option(
      names = "--expect",
      paramLabel = "N",
      description = "Without ID: change nothing unless N timers match.")
  private @Nullable Long expect;

  @Option(names = "--force", description = "Without ID: change any number of timers.")
  private boolean force;

  /** {@return the error if these options cannot be used with an ID; null if there is none} */
  @Nullable String faultWithId() {
    boolean filtered =
        state != null
            || prefix != null
            || dueFrom != null
            || dueTo != null
            || handler != null
            || queue != null;
    return filtered || expect != null || force
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
    List<String> states = state == null ? null : List.of(state);
    return new BulkRequest(
        new BulkRequest.Filter(states, prefix, dueFrom, dueTo, handler, queue),
        expect,
        force ? Boolean.TRUE : null);
  }
}
