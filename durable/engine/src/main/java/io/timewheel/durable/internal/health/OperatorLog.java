// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.health;

import io.timewheel.durable.model.TimerKey;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Logs problems of timers for operators. The first problems of a kind are logged at once, and
 * others of the same minute are summarised in one line.
 */
public final class OperatorLog {
  private static final System.Logger LOG = GuardedLog.LOG;

  private final Map<Object, Kind> kinds = new LinkedHashMap<>();

  private static final class Kind {
    final String what;
    int lines;
    long more;
    String latest = "";

    Kind(String what) {
      this.what = what;
    }
  }

  /** Adds a problem of a timer. The first one of its kind has a line of its own. */
  public void add(String what, TimerKey key, String why) {
    add(what, what, 1, "timer " + key + ": " + what + ": " + why, key + ": " + why, null);
  }

  /**
   * Adds a problem.
   *
   * @param id identifies its kind
   * @param what describes the kind in a summary
   * @param limit the largest number of problems of this kind with a line of their own
   * @param line the line
   * @param latest the text for a summary
   * @param thrown an exception that is logged with the line
   */
  void add(
      Object id, String what, int limit, String line, String latest, @Nullable Throwable thrown) {
    synchronized (this) {
      Kind kind = kinds.computeIfAbsent(id, unknown -> new Kind(what));
      if (kind.lines >= limit) {
        kind.more++;
        kind.latest = latest;
        return;
      }
      kind.lines++;
    }
    LOG.log(System.Logger.Level.WARNING, line, thrown);
  }

  /** Logs the problems since the last report, and drops the kinds that did not occur again. */
  public void report() {
    List<String> summaries = new ArrayList<>();
    synchronized (this) {
      kinds.values().removeIf(kind -> kind.more == 0);
      for (Kind kind : kinds.values()) {
        summaries.add(kind.what + ": " + kind.more + " more; the latest: " + kind.latest);
        kind.lines = 1;
        kind.more = 0;
      }
    }
    summaries.forEach(summary -> LOG.log(System.Logger.Level.WARNING, summary));
  }
}
