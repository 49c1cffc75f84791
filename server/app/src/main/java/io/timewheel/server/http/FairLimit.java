// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Limits the number of claims, streams or connections. One client alone leaves an eighth of them,
 * at least one, to the other clients, unless the limit is 1. Thread-safe.
 */
public final class FairLimit {
  private final int max;
  private final int maxOfClient;
  private final Map<String, Integer> byClient = new HashMap<>();
  private int total;

  /** Makes a limit for all clients together. */
  public FairLimit(int max) {
    this.max = max;
    this.maxOfClient = max < 2 ? max : max - Math.max(1, max / 8);
  }

  /**
   * Counts one more.
   *
   * @param client the name of the client, such as {@link ApiRequest#client}; null for a client that
   *     may use the whole limit
   * @return null if it was counted; otherwise the limit that is reached, for a message
   */
  public synchronized @Nullable String take(@Nullable String client) {
    if (total >= max) {
      return "limit: " + max;
    }
    if (client != null && byClient.getOrDefault(client, 0) >= maxOfClient) {
      return "limit of one client: " + maxOfClient;
    }
    if (client != null) {
      byClient.merge(client, 1, Integer::sum);
    }
    total++;
    return null;
  }

  /** Counts one less, for a client that took one. */
  public synchronized void release(@Nullable String client) {
    if (client != null) {
      byClient.computeIfPresent(client, (name, count) -> count > 1 ? count - 1 : null);
    }
    total--;
  }
}
