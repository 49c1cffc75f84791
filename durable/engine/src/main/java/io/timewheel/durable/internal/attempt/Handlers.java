// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import io.timewheel.durable.internal.due.ClaimHolder;
import io.timewheel.durable.internal.due.DueEntry;
import io.timewheel.durable.spi.HandlerNames;
import io.timewheel.durable.spi.TimerRecord;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The queues of all handlers: of those with a name, and of those for a prefix. */
public final class Handlers {
  /** How many names of a family are reckoned with, when the room of a window is shared. */
  private static final int SHARES_OF_A_FAMILY = 16;

  private final Map<String, HandlerQueue.Config> handlers;
  private final Map<String, PrefixHandlers.Config> prefixes;
  private final HandlerQueue.Factory factory;
  private volatile @Nullable HandlerNames names;
  private volatile Map<String, HandlerQueue> named = Map.of();
  private volatile List<PrefixHandlers> families = List.of();

  public Handlers(
      Map<String, HandlerQueue.Config> handlers,
      Map<String, PrefixHandlers.Config> prefixes,
      HandlerQueue.Factory factory) {
    this.handlers = handlers;
    this.prefixes = prefixes;
    this.factory = factory;
  }

  /** The names and prefixes of all handlers that there are by now. */
  public HandlerNames names() {
    HandlerNames fixed = names;
    return fixed != null ? fixed : new HandlerNames(handlers.keySet(), prefixes.keySet());
  }

  /** Begins, with the handlers that there are by now. */
  public void start() {
    names = new HandlerNames(handlers.keySet(), prefixes.keySet());
    Map<String, HandlerQueue> made = new HashMap<>();
    handlers.forEach(
        (name, config) -> made.put(name, factory.create(config, HandlerQueue.Slots.OWN, () -> {})));
    named = Map.copyOf(made);
    families =
        prefixes.values().stream().map(config -> new PrefixHandlers(config, factory)).toList();
  }

  public boolean knows(String handler) {
    return named.containsKey(handler) || familyOf(handler) != null;
  }

  private @Nullable PrefixHandlers familyOf(String handler) {
    PrefixHandlers longest = null;
    for (PrefixHandlers family : families) {
      if (handler.startsWith(family.prefix())
          && (longest == null || family.prefix().length() > longest.prefix().length())) {
        longest = family;
      }
    }
    return longest;
  }

  /** Returns false if the handler is not known. */
  public boolean add(DueEntry entry) {
    HandlerQueue queue = named.get(entry.due.handler());
    if (queue != null) {
      queue.offer(entry);
      queue.claimMore();
      return true;
    }
    PrefixHandlers family = familyOf(entry.due.handler());
    if (family != null) {
      family.add(entry);
    }
    return family != null;
  }

  /** The queue of a handler, if it has one at present. */
  @Nullable
  public HandlerQueue of(String handler) {
    HandlerQueue queue = named.get(handler);
    PrefixHandlers family = queue == null ? familyOf(handler) : null;
    return family == null ? queue : family.queue(handler);
  }

  /** Whether there are no handlers. */
  public boolean isEmpty() {
    return named.isEmpty() && families.isEmpty();
  }

  /** Reserves slots of a handler for timers that are to be leased; see {@link HandlerQueue}. */
  public int reserve(String handler, int most) {
    HandlerQueue queue = named.get(handler);
    PrefixHandlers family = queue == null ? familyOf(handler) : null;
    return family != null ? family.reserve(handler, most) : queue == null ? 0 : queue.reserve(most);
  }

  /** Frees reserved slots for which nothing was leased. */
  public void release(String handler, int slots) {
    HandlerQueue queue = of(handler);
    if (queue != null && slots > 0) {
      queue.release(slots);
    }
  }

  /** Takes an attempt that was leased, for a reserved slot. */
  public void leased(TimerRecord record, ClaimHolder holder, long pausesBefore) {
    HandlerQueue queue = of(record.definition().handler());
    if (queue != null) { // it has a reserved slot, so it is there
      queue.leased(record, holder, pausesBefore);
    }
  }

  /** Whether an attempt is in its handler on a thread. */
  public boolean isRunBy(Thread thread) {
    return all().stream().anyMatch(queue -> queue.isRunBy(thread));
  }

  /** {@return how many of some attempts have begun, and have not ended} */
  public int begun(Predicate<AttemptRun> which) {
    return all().stream().mapToInt(queue -> queue.begun(which)).sum();
  }

  public boolean isIdle() {
    return all().stream().allMatch(HandlerQueue::isIdle);
  }

  /** The patience of a close is over. */
  public void interrupt() {
    all().forEach(HandlerQueue::interrupt);
  }

  /** All that there are at present. */
  public List<HandlerQueue> all() {
    List<HandlerQueue> all = new ArrayList<>(named.values());
    families.forEach(family -> all.addAll(family.queues()));
    return all;
  }

  /** Into how many parts the room for overdue timers is divided. */
  public int shares() {
    return named.size() + SHARES_OF_A_FAMILY * families.size() + 1;
  }

  public void upkeep() {
    all().forEach(HandlerQueue::upkeep);
  }

  public void close() {
    families.forEach(PrefixHandlers::close);
    all().forEach(HandlerQueue::close);
  }

  public int waiting() {
    return all().stream().mapToInt(HandlerQueue::waiting).sum();
  }

  public int running() {
    return all().stream().mapToInt(HandlerQueue::running).sum();
  }
}
