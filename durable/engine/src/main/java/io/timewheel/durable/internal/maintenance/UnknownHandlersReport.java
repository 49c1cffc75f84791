// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.maintenance;

import io.timewheel.durable.internal.attempt.KnownHandlers;
import io.timewheel.durable.internal.commit.Delays;
import io.timewheel.durable.internal.commit.StoreTasks;
import io.timewheel.durable.internal.health.GuardedLog;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Warns once after the start about unfinished timers whose handler no live node has. With a shared
 * store it waits for the duration of a node lease, so that nodes that start together see each
 * other. It reads a page at a time, and stops after {@link #MAX_PAGES} pages. The report for a
 * larger store covers only the timers that were read.
 */
public final class UnknownHandlersReport {
  private static final System.Logger LOG = GuardedLog.LOG;
  private static final int PAGE = 1_000;
  private static final int MAX_PAGES = 200;
  private static final int MAX_NAMES = 10;
  private static final Set<TimerState> UNFINISHED =
      EnumSet.complementOf(EnumSet.of(TimerState.COMPLETED, TimerState.CANCELLED));

  private final TimerStore store;
  private final StoreTasks tasks;
  private final Delays delays;
  private final KnownHandlers known;

  /** The number of timers that were read for each unknown handler. */
  private final Map<String, Long> counts = new TreeMap<>();

  private @Nullable TimerKey after;
  private int pages;

  public UnknownHandlersReport(
      TimerStore store, StoreTasks tasks, Delays delays, KnownHandlers known) {
    this.store = store;
    this.tasks = tasks;
    this.delays = delays;
    this.known = known;
  }

  public void start() {
    if (store.traits().lease().isZero()) {
      next();
    } else {
      delays.start(this::next, store.traits().lease());
    }
  }

  private void next() {
    boolean unused = tasks.maintain(this::readPage); // refused only by a closed engine
  }

  private void readPage() {
    if (tasks.isClosed()) {
      return;
    }
    try {
      if (pages == 0 && !holdsUnfinished()) {
        return;
      }
      TimerPage page = store.page(query(), after, PAGE);
      page.records().forEach(this::count);
      after = page.next();
    } catch (RuntimeException | Error e) {
      LOG.log(System.Logger.Level.DEBUG, "no check for unknown handlers at the start", e);
      return;
    }
    if (after != null && ++pages < MAX_PAGES) {
      next();
    } else if (!counts.isEmpty()) {
      warn();
    }
  }

  /**
   * Returns whether the store contains unfinished timers, so that a store with only history need
   * not be read.
   */
  private boolean holdsUnfinished() {
    return store.counts().values().stream()
        .anyMatch(states -> states.keySet().stream().anyMatch(UNFINISHED::contains));
  }

  private void count(TimerRecord record) {
    String handler = record.definition().handler();
    if (!record.definition().queue() && !known.contains(handler)) {
      counts.merge(handler, 1L, Long::sum);
    }
  }

  private void warn() {
    String most =
        counts.entrySet().stream()
            .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
            .limit(MAX_NAMES)
            .map(entry -> '"' + entry.getKey() + "\" (" + entry.getValue() + ")")
            .collect(Collectors.joining(", "));
    int others = counts.size() - MAX_NAMES;
    LOG.log(
        System.Logger.Level.WARNING,
        "the store holds unfinished timers whose handler no live node knows: "
            + most
            + (others > 0 ? " and timers of " + others + " more handlers" : "")
            + (after == null ? "" : "; only " + (long) PAGE * MAX_PAGES + " timers were read")
            + ". They are blocked when they become due, until a node that knows the handler"
            + " starts");
  }

  private static TimerQuery query() {
    return new TimerQuery(null, "", UNFINISHED, Long.MIN_VALUE, Long.MAX_VALUE, null, false);
  }
}
