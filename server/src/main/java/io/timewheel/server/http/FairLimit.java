// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Limits the number of claims, streams or connections. One client alone leaves an eighth of them to
 * the other clients. Thread-safe.
 */
public final class FairLimit {
  private final int max;
  private final int maxOfClient;
  private final Map<String, Integer> byClient = new HashMap<>();
  private int total;

  /**
   * Makes a limit.
   *
   * @param max the number for all clients together
   */
  public FairLimit(int max) {
    this.max = max;
    this.maxOfClient = max - max / 8;
  }

  /**
   * Counts one more.
   *
   * @param client the name of the client, such as {@link Exchange#client}; null for a client that
   *     need not leave any to the others
   * @return false if the limit is reached; then nothing is counted
   */
  public synchronized boolean take(@Nullable String client) {
    if (total >= max || (client != null && byClient.getOrDefault(client, 0) >= maxOfClient)) {
      return false;
    }
    if (client != null) {
      byClient.merge(client, 1, Integer::sum);
    }
    total++;
    return true;
  }

  @Override
  public String toString() {
    return "limit: " + max + ", of one client: " + maxOfClient;
  }

  /** Counts one less, for a client that took one. */
  public synchronized void release(@Nullable String client) {
    if (client != null) {
      byClient.computeIfPresent(client, (name, count) -> count > 1 ? count - 1 : null);
    }
    total--;
  }
}
