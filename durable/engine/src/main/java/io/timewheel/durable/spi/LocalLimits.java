// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import java.util.HashMap;
import java.util.Map;

/**
 * Keeps shared limits in memory, for a store whose sessions are in one process. Thread-safe. An
 * unused limit is dropped after a while.
 */
public final class LocalLimits {
  private static final int CLEANUP_SIZE = 10_000;

  private final Map<String, Use> uses = new HashMap<>();

  /** Creates unused limits. */
  public LocalLimits() {}

  private static final class Use {
    SharedLimit.Tokens tokens;
    final Map<String, Long> holders = new HashMap<>();

    Use(SharedLimit.Tokens tokens) {
      this.tokens = tokens;
    }
  }

  private Use refilled(String name, SharedLimit limit, long nowMillis) {
    Use use = uses.get(name);
    if (use == null) {
      if (uses.size() >= CLEANUP_SIZE) {
        uses.values()
            .removeIf(old -> old.holders.isEmpty() && old.tokens.atMillis() < nowMillis - 1_000);
      }
      use = new Use(new SharedLimit.Tokens(limit.burst(), nowMillis));
      uses.put(name, use);
    } else {
      use.tokens = limit.refilled(use.tokens, nowMillis);
    }
    return use;
  }

  /**
   * Returns how many timers of a queue may be claimed.
   *
   * @param request the request
   * @param running the number of timers that consumers have claimed already
   * @param nowMillis the time of the claims
   * @return zero to the requested number
   */
  public synchronized int admitted(LeaseRequest request, long running, long nowMillis) {
    SharedLimit limit = request.limit();
    if (limit == null) {
      return request.max();
    }
    Use use = refilled(request.scope(), limit, nowMillis);
    return Math.min(request.max(), limit.admitted(use.tokens, running));
  }

  /**
   * Takes the tokens of timers that were claimed.
   *
   * @param request the request
   * @param claimed the number of timers
   */
  public synchronized void claimed(LeaseRequest request, int claimed) {
    Use use = uses.get(request.scope());
    if (request.limit() != null && use != null) {
      use.tokens = use.tokens.minus(claimed);
    }
  }

  /**
   * Takes a permit, as {@link TimerStore#acquire} does.
   *
   * @param name the name of the limit
   * @param limit the limit
   * @param holder the caller that asks
   * @param untilMillis the expiry of the permit
   * @param nowMillis the present time
   * @return zero, or the time to wait, in milliseconds
   */
  public synchronized long acquire(
      String name, SharedLimit limit, String holder, long untilMillis, long nowMillis) {
    Use use = refilled(name, limit, nowMillis);
    use.holders.values().removeIf(until -> until <= nowMillis);
    if (limit.admitted(use.tokens, use.holders.size()) == 0) {
      return limit.waitMillis(use.tokens.count());
    }
    use.tokens = use.tokens.minus(1);
    use.holders.put(holder, untilMillis);
    return 0;
  }

  /**
   * Gives a permit back, as {@link TimerStore#release} does.
   *
   * @param name the name of the limit
   * @param holder the caller that has the permit
   */
  public synchronized void release(String name, String holder) {
    Use use = uses.get(name);
    if (use != null) {
      use.holders.remove(holder);
    }
  }
}
