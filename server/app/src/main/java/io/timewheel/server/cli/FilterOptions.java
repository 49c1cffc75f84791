// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import io.timewheel.api.BulkRequest;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that select timers of a namespace. */
final class FilterOptions {
  @Option(
      names = "--state",
      paramLabel = "STATE",
      description = "Select only these states, or all (default: unfinished).")
  private @Nullable String state;

  @Option(
      names = "--prefix",
      paramLabel = "TEXT",
      description = "Select only IDs with this prefix.")
  private @Nullable String prefix;

  @Option(
      names = "--due-from",
      paramLabel = "INSTANT",
      description = "Select only timers due from this instant on.")
  private @Nullable Instant dueFrom;

  @Option(
      names = "--due-to",
      paramLabel = "INSTANT",
      description = "Select only timers due before this instant.")
  private @Nullable Instant dueTo;

  @Option(
      names = "--handler",
      paramLabel = "NAME",
      description = "Select only timers of this handler.")
  private @Nullable String handler;

  @Option(
      names = "--queue",
      paramLabel = "QUEUE",
      description = "Select only timers of this queue.")
  private @Nullable String queue;

  BulkRequest.Filter filter() {
    List<String> states = state == null ? null : List.of(state);
    return new BulkRequest.Filter(states, prefix, dueFrom, dueTo, handler, queue);
  }

  /** {@return a path with the filter as its query} */
  String of(String path) {
    String query = ApiClient.with(path, "state", state);
    query = ApiClient.with(query, "prefix", prefix);
    query = ApiClient.with(query, "dueFrom", dueFrom);
    query = ApiClient.with(query, "dueTo", dueTo);
    query = ApiClient.with(query, "handler", handler);
    return ApiClient.with(query, "queue", queue);
  }
}
