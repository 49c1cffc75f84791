// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.settings;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * The limits of a token or a namespace, for the whole cluster. An absent limit means no limit.
 *
 * @param pendingTimers the number of unfinished timers
 * @param claims the number of concurrent claims; further claims wait
 * @param streams the number of concurrent event streams
 * @param writesPerSecond the number of timers that are written each second
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Quota(
    @Nullable Long pendingTimers,
    @Nullable Long claims,
    @Nullable Long streams,
    @Nullable Long writesPerSecond) {
  /** No limits. */
  public static final Quota NONE = new Quota(null, null, null, null);

  /** The largest limit: far above any use, and safe from overflow. */
  private static final long MAX = 1_000_000_000_000L;

  /**
   * Checks the limits.
   *
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

  /** {@return these limits, completed by those of another quota} */
  Quota or(Quota other) {
    return new Quota(
        pendingTimers == null ? other.pendingTimers : pendingTimers,
        claims == null ? other.claims : claims,
        streams == null ? other.streams : streams,
        writesPerSecond == null ? other.writesPerSecond : writesPerSecond);
  }
}
