// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.durable.spi.HandlerNames;
import io.timewheel.durable.spi.TimerRecord;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The lanes of all handlers: of those with a name, and of families. */
final class Lanes {
  /** How many names of a family are reckoned with, when the room of a window is shared. */
  private static final int SHARES_OF_A_FAMILY = 16;

  private final Map<String, HandlerLane.Config> handlers;
  private final Map<String, HandlerFamily.Config> prefixes;
  private final HandlerLane.Factory factory;
  private volatile @Nullable HandlerNames names;
  private volatile Map<String, HandlerLane> named = Map.of();
  private volatile List<HandlerFamily> families = List.of();

  Lanes(
      Map<String, HandlerLane.Config> handlers,
      Map<String, HandlerFamily.Config> prefixes,
      HandlerLane.Factory factory) {
    this.handlers = handlers;
    this.prefixes = prefixes;
    this.factory = factory;
  }

  /** The names and prefixes of all handlers that there are by now. */
  HandlerNames names() {
    HandlerNames fixed = names;
    return fixed != null ? fixed : new HandlerNames(handlers.keySet(), prefixes.keySet());
  }

  /** Begins, with the handlers that there are by now. */
  void start() {
    names = new HandlerNames(handlers.keySet(), prefixes.keySet());
    Map<String, HandlerLane> made = new HashMap<>();
    handlers.forEach((name, config) -> made.put(name, factory.create(config, () -> {})));
    named = Map.copyOf(made);
    families =
        prefixes.values().stream().map(config -> new HandlerFamily(config, factory)).toList();
  }

  boolean knows(String handler) {
    return named.containsKey(handler) || familyOf(handler) != null;
  }

  private @Nullable HandlerFamily familyOf(String handler) {
    HandlerFamily longest = null;
    for (HandlerFamily family : families) {
      if (handler.startsWith(family.prefix())
          && (longest == null || family.prefix().length() > longest.prefix().length())) {
        longest = family;
      }
    }
    return longest;
  }

  /** Returns false if the handler is not known. */
  boolean add(DueEntry entry) {
    HandlerLane lane = named.get(entry.due.handler());
    if (lane != null) {
      lane.offer(entry);
      lane.claimMore();
      return true;
    }
    HandlerFamily family = familyOf(entry.due.handler());
    if (family != null) {
      family.add(entry);
    }
    return family != null;
  }

  /** The lane of a handler, if it has one at present. */
  @Nullable HandlerLane of(String handler) {
    HandlerLane lane = named.get(handler);
    HandlerFamily family = lane == null ? familyOf(handler) : null;
    return family == null ? lane : family.lane(handler);
  }

  /** Whether there are no handlers. */
  boolean isEmpty() {
    return named.isEmpty() && families.isEmpty();
  }

  /** Reserves slots of a handler for timers that are to be leased; see {@link HandlerLane}. */
  int reserve(String handler, int most) {
    HandlerLane lane = named.get(handler);
    HandlerFamily family = lane == null ? familyOf(handler) : null;
    return family != null ? family.reserve(handler, most) : lane == null ? 0 : lane.reserve(most);
  }

  /** Frees reserved slots for which nothing was leased. */
  void release(String handler, int slots) {
    HandlerLane lane = of(handler);
    if (lane != null && slots > 0) {
      lane.release(slots);
    }
  }

  /** Takes an attempt that was leased, for a reserved slot. */
  void leased(TimerRecord record, ClaimHolder holder, long pausesBefore) {
    HandlerLane lane = of(record.definition().handler());
    if (lane != null) { // it has a reserved slot, so it is there
      lane.leased(record, holder, pausesBefore);
    }
  }

  /** All that there are at present. */
  List<HandlerLane> all() {
    List<HandlerLane> all = new ArrayList<>(named.values());
    families.forEach(family -> all.addAll(family.lanes()));
    return all;
  }

  /** Into how many parts the room for what is overdue is shared. */
  int shares() {
    return named.size() + SHARES_OF_A_FAMILY * families.size() + 1;
  }

  void upkeep() {
    all().forEach(HandlerLane::upkeep);
    families.forEach(HandlerFamily::upkeep);
  }

  void close() {
    families.forEach(HandlerFamily::close);
    all().forEach(HandlerLane::close);
  }

  int waiting() {
    return all().stream().mapToInt(HandlerLane::waiting).sum()
        + families.stream().mapToInt(HandlerFamily::waiting).sum();
  }

  int running() {
    return all().stream().mapToInt(HandlerLane::running).sum();
  }
}
