// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.settings;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * Upper limits for a token or a namespace, of the whole cluster. An absent limit does not bound.
 *
 * @param pendingTimers the number of unfinished timers
 * @param claims the number of claims at a time; one above it waits for its turn
 * @param streams the number of event streams at a time
 * @param writesPerSecond the number of timers that are written each second
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Quota(
    @Nullable Long pendingTimers,
    @Nullable Long claims,
    @Nullable Long streams,
    @Nullable Long writesPerSecond) {
  /** Bounds nothing. */
  public static final Quota NONE = new Quota(null, null, null, null);

  /** The largest limit: far above any use, and safe in arithmetic. */
  private static final long MAX = 1_000_000_000_000L;

  /**
   * Checks the limits.
   *
   * @return these limits
   * @throws IllegalArgumentException if one is out of range
   */
  public Quota checked() {
    check("pendingTimers", pendingTimers);
    check("claims", claims);
    check("streams", streams);
    check("writesPerSecond", writesPerSecond);
    return this;
  }

  private static void check(String name, @Nullable Long limit) {
    if (limit != null && (limit < 1 || limit > MAX)) {
      throw new IllegalArgumentException(
          name + ": " + limit + " is out of range (expected: 1 to " + MAX + ")");
    }
  }

  /** {@return these limits, with those of another quota where this one has none} */
  Quota or(Quota other) {
    return new Quota(
        pendingTimers == null ? other.pendingTimers : pendingTimers,
        claims == null ? other.claims : claims,
        streams == null ? other.streams : streams,
        writesPerSecond == null ? other.writesPerSecond : writesPerSecond);
  }
}
