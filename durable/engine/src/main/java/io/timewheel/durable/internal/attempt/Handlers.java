// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import io.timewheel.durable.internal.due.ClaimHolder;
import io.timewheel.durable.internal.due.DueEntry;
import io.timewheel.durable.internal.due.LocalHandlers;
import io.timewheel.durable.spi.record.HandlerNames;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The queues of all handlers, with names and with prefixes. */
public final class Handlers implements LocalHandlers {
  /** The assumed number of names of a prefix, for the division of a window among handlers. */
  private static final int SHARES_OF_A_FAMILY = 16;

  private final Map<String, HandlerQueue.Config> handlers;
  private final Map<String, PrefixHandlers.Config> prefixes;
  private final HandlerQueue.Parts parts;
  private volatile @Nullable HandlerNames names;
  private volatile Map<String, HandlerQueue> named = Map.of();
  private volatile List<PrefixHandlers> families = List.of();

  public Handlers(
      Map<String, HandlerQueue.Config> handlers,
      Map<String, PrefixHandlers.Config> prefixes,
      HandlerQueue.Parts parts) {
    this.handlers = handlers;
    this.prefixes = prefixes;
    this.parts = parts;
  }

  /** Returns the names and prefixes of all handlers that have been added. */
  public HandlerNames names() {
    HandlerNames fixed = names;
    return fixed != null ? fixed : new HandlerNames(handlers.keySet(), prefixes.keySet());
  }

  /** Starts, with the handlers that have been added. */
  public void start() {
    names = new HandlerNames(handlers.keySet(), prefixes.keySet());
    Map<String, HandlerQueue> made = new HashMap<>();
    handlers.forEach(
        (name, config) -> made.put(name, new HandlerQueue(parts, config, null, () -> {})));
    named = Map.copyOf(made);
    families = prefixes.values().stream().map(config -> new PrefixHandlers(config, parts)).toList();
  }

  @Override
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

  /** Adds a due entry. Returns false if the handler is not known. */
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

  /** Returns the queue of a handler, if it has one at present. */
  @Nullable
  public HandlerQueue of(String handler) {
    HandlerQueue queue = named.get(handler);
    PrefixHandlers family = queue == null ? familyOf(handler) : null;
    return family == null ? queue : family.queue(handler);
  }

  public boolean isEmpty() {
    return named.isEmpty() && families.isEmpty();
  }

  /** Reserves slots of a handler for timers that will be leased; see {@link HandlerQueue}. */
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
    if (queue != null) { // never null, because the handler has a reserved slot
      queue.leased(record, holder, pausesBefore);
    }
  }

  public boolean isRunBy(Thread thread) {
    return all().stream().anyMatch(queue -> queue.attempts().isRunBy(thread));
  }

  public boolean isIdle() {
    return all().stream().allMatch(HandlerQueue::isIdle);
  }

  /** Interrupts the running attempts after the shutdown timeout. */
  public void interrupt() {
    all().forEach(queue -> queue.attempts().interrupt());
  }

  public List<HandlerQueue> all() {
    List<HandlerQueue> all = new ArrayList<>(named.values());
    families.forEach(family -> all.addAll(family.queues()));
    return all;
  }

  @Override
  public int shares() {
    return named.size() + SHARES_OF_A_FAMILY * families.size() + 1;
  }

  public void maintain() {
    all().forEach(HandlerQueue::maintain);
  }

  public void close() {
    families.forEach(PrefixHandlers::close);
    all().forEach(HandlerQueue::close);
  }

  public int waiting() {
    return all().stream().mapToInt(HandlerQueue::waiting).sum();
  }

  public int running() {
    return all().stream().mapToInt(queue -> queue.attempts().running()).sum();
  }
}
