// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.TimerRecord;
import io.timewheel.durable.spi.TimerStore;
import java.util.ArrayDeque;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Puts back what was held by pauses that are over, and what was parked for a handler that is known
 * here: a page at a time, and the next one when the store has answered all of it. So a million of
 * them are never on their way to the store at once.
 */
final class Releases {
  private static final System.Logger LOG = GuardedLog.LOG;
  private static final int PAGE = 1_000;

  /** An hour: what was imported meanwhile, and was parked or held where it came from. */
  private static final int UPKEEPS_PER_ROUND = 60;

  private final Engine engine;
  private final TimerStore store;
  private boolean running;

  /** Whether something was asked for that the present round may have passed by already. */
  private boolean again;

  /** Whether a round could not be ended. */
  private boolean incomplete;

  private int upkeeps;

  Releases(Engine engine, TimerStore store) {
    this.engine = engine;
    this.store = store;
  }

  /** Begins a round; or has one begin when the present one has ended. */
  void start() {
    synchronized (this) {
      again = running;
      if (running) {
        return;
      }
      running = true;
    }
    new Round().next();
  }

  /**
   * Begins a round if there may be something to find: where other nodes pause, resume and park too,
   * and after one that failed. Otherwise what can be released was, at the start or by whoever
   * resumed; to look again each minute would read the whole store for timers that stay as they are.
   */
  void upkeep() {
    boolean due;
    synchronized (this) {
      due = incomplete || ++upkeeps % UPKEEPS_PER_ROUND == 0;
    }
    if (due || !store.traits().sweep().isZero()) {
      start();
    }
  }

  /** One way through everything that waits: each step begins when the one before it is over. */
  private final class Round {
    /** The namespaces that are still to be read. */
    private @Nullable ArrayDeque<String> namespaces;

    private Set<String> paused = Set.of();
    private @Nullable TimerKey after;

    void next() {
      boolean unused = engine.executeUpkeep(this::step); // refused only by a closed engine
    }

    private void step() {
      List<TimerRecord> found;
      try {
        if (namespaces == null) {
          paused = store.paused();
          namespaces = namespaces();
        }
        String namespace = namespaces.peek();
        if (namespace == null) {
          ended(true);
          return;
        }
        TimerPage page = store.page(query(namespace), after, PAGE);
        after = page.next();
        if (after == null) {
          namespaces.remove();
        }
        found = page.records().stream().filter(this::isFree).toList();
      } catch (RuntimeException | Error e) {
        if (!engine.isClosing()) { // or the store may be closed by now
          LOG.log(System.Logger.Level.WARNING, "what was held is released with the next upkeep", e);
        }
        ended(false);
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

    private boolean isFree(TimerRecord record) {
      return record.state() == TimerState.PARKED
          // In its own shards: another owner, that does not know the handler, would park it again.
          ? engine.knows(record.definition().handler()) && engine.owns(record.key())
          : record.isHeld()
              && !paused.contains(TimerStore.EVERYTHING)
              && !paused.contains(record.key().namespace());
    }

    /** Only where the counters say that there are some: to find that out reads all of it. */
    private ArrayDeque<String> namespaces() {
      ArrayDeque<String> made = new ArrayDeque<>();
      store
          .counts()
          .forEach(
              (namespace, counts) -> {
                boolean held = counts.containsKey(TimerState.PAUSED);
                if (held || counts.containsKey(TimerState.PARKED)) {
                  made.add(namespace);
                }
              });
      return made;
    }

    private void ended(boolean complete) {
      synchronized (Releases.this) {
        running = false;
        incomplete = !complete;
        if (!again || engine.isClosing()) {
          return;
        }
      }
      start();
    }
  }

  private static TimerQuery query(String namespace) {
    return new TimerQuery(
        namespace,
        "",
        EnumSet.of(TimerState.PAUSED, TimerState.PARKED),
        Long.MIN_VALUE,
        Long.MAX_VALUE,
        null,
        false);
  }
}
