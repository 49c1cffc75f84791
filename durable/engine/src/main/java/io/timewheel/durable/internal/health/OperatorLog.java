// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.health;

import io.timewheel.durable.model.TimerKey;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Logs problems of timers for operators. The first problem of a kind is logged at once, and those
 * of the next minute are summarised in one line.
 */
public final class OperatorLog {
  private static final System.Logger LOG = GuardedLog.LOG;

  private final Map<String, Kind> kinds = new LinkedHashMap<>();

  private static final class Kind {
    long more;
    String latest = "";
  }

  /** Adds a problem of a timer. */
  public void add(String what, TimerKey key, String why) {
    synchronized (this) {
      Kind known = kinds.get(what);
      if (known != null) {
        known.more++;
        known.latest = key + ": " + why;
        return;
      }
      kinds.put(what, new Kind());
    }
    LOG.log(System.Logger.Level.WARNING, "timer {0}: {1}: {2}", key, what, why);
  }

  /** Logs the problems since the last report, and drops the kinds that did not occur again. */
  public void report() {
    Map<String, Kind> again = new LinkedHashMap<>();
    synchronized (this) {
      kinds.entrySet().removeIf(kind -> kind.getValue().more == 0);
      kinds.forEach(
          (what, kind) -> {
            Kind copy = new Kind();
            copy.more = kind.more;
            copy.latest = kind.latest;
            again.put(what, copy);
            kind.more = 0;
          });
    }
    again.forEach(
        (what, kind) ->
            LOG.log(
                System.Logger.Level.WARNING,
                "{0}: more timers: {1}; the latest: {2}",
                what,
                kind.more,
                kind.latest));
  }
}
