// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The event that the server posts to {@code --failed-webhook}: timers that became failed. Each of
 * them is in an event at least once.
 *
 * @param type {@value #TYPE}
 * @param timestamp the time of the event
 * @param data the timers
 */
public record FailedTimers(String type, Instant timestamp, Data data) {
  /** The type of the event. */
  public static final String TYPE = "timers.failed";

  /**
   * The timers of an event.
   *
   * @param timers the timers, 1 to 100
   */
  public record Data(List<Timer> timers) {}

  /**
   * A timer that became failed.
   *
   * @param namespace the namespace
   * @param id the ID
   * @param version the version
   * @param failedAt the time at which it became failed; with the fields before, it identifies the
   *     failure
   * @param attempt the number of attempts
   * @param error the error of the last attempt
   * @param queue the name of its queue
   * @param url the URL of its webhook
   */
  public record Timer(
      String namespace,
      String id,
      long version,
      Instant failedAt,
      int attempt,
      @Nullable String error,
      @Nullable String queue,
      @Nullable String url) {}
}
