// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.TimerRecord;
import io.timewheel.durable.spi.TimerStore;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Puts back what was held by pauses that are over, and what was parked for a handler that is known
 * here: a page at a time, and the next one when the store has answered all of it. So a million of
 * them are never on their way to the store at once.
 */
final class Releases {
  private static final System.Logger LOG = System.getLogger(DurableTimer.class.getName());
  private static final int PAGE = 1_000;

  private final Engine engine;
  private final TimerStore store;
  private boolean running;

  /** Whether something was asked for that the present round may have passed by already. */
  private boolean again;

  Releases(Engine engine, TimerStore store) {
    this.engine = engine;
    this.store = store;
  }

  /**
   * Begins a round; or has one begin when the present one has ended.
   *
   * @param handlers those that are known here
   */
  void start(Collection<String> handlers) {
    synchronized (this) {
      again = running;
      if (running) {
        return;
      }
      running = true;
    }
    new Round(handlers).next();
  }

  /** What is looked for, in which state and of which handler; and which of it is put back. */
  private record Search(TimerState state, @Nullable String handler, Predicate<TimerRecord> free) {
    TimerQuery query() {
      return new TimerQuery(
          null, "", EnumSet.of(state), Long.MIN_VALUE, Long.MAX_VALUE, handler, false);
    }
  }

  /** One way through everything that waits: each step begins when the one before it is over. */
  private final class Round {
    private final Collection<String> handlers;
    private @Nullable ArrayDeque<Search> searches;
    private @Nullable TimerKey after;

    Round(Collection<String> handlers) {
      this.handlers = handlers;
    }

    void next() {
      boolean unused = engine.executeStoreWork(this::step); // refused only by a closed engine
    }

    private void step() {
      List<TimerRecord> found;
      try {
        if (searches == null) {
          searches = searches();
        }
        Search search = searches.peek();
        if (search == null) {
          ended();
          return;
        }
        TimerPage page = store.page(search.query(), after, PAGE);
        after = page.next();
        if (after == null) {
          searches.remove();
        }
        found = page.records().stream().filter(search.free()).toList();
      } catch (RuntimeException | Error e) {
        LOG.log(System.Logger.Level.WARNING, "what was held is released with the next upkeep", e);
        ended();
        return;
      }
      release(found);
    }

    private void release(List<TimerRecord> found) {
      AtomicInteger left = new AtomicInteger(found.size());
      if (found.isEmpty()) {
        next();
      }
      for (TimerRecord record : found) {
        engine.submitOwn(
            new Change.Verb(
                record.key(), Change.Verb.What.RELEASE, record.version(), engine.nowMillis()),
            outcome -> {
              if (left.decrementAndGet() == 0) {
                next();
              }
            });
      }
    }

    /** Only where the counters say that there are some: to find that out reads the whole store. */
    private ArrayDeque<Search> searches() {
      Map<String, Map<TimerState, Long>> counts = store.counts();
      ArrayDeque<Search> made = new ArrayDeque<>();
      Set<String> paused = store.paused();
      if (isAny(counts, TimerState.PAUSED) && !paused.contains(TimerStore.EVERYTHING)) {
        made.add(
            new Search(
                TimerState.PAUSED,
                null,
                record -> record.isHeld() && !paused.contains(record.key().namespace())));
      }
      if (isAny(counts, TimerState.PARKED)) {
        handlers.forEach(
            handler -> made.add(new Search(TimerState.PARKED, handler, record -> true)));
      }
      return made;
    }

    private void ended() {
      synchronized (Releases.this) {
        running = false;
        if (!again) {
          return;
        }
      }
      start(handlers);
    }
  }

  private static boolean isAny(Map<String, Map<TimerState, Long>> counts, TimerState state) {
    return counts.values().stream().anyMatch(states -> states.containsKey(state));
  }
}
