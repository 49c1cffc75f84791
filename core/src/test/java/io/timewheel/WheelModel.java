// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * A wheel next to its reference model: a sorted map from the deadline tick to the timeouts due
 * then, in the order in which they were started or moved. Every operation is applied to both. Then
 * the results are compared, and the whole wheel is compared with the model and with {@link
 * WheelChecks}.
 *
 * <p>This class is also the clock, which moves only on command.
 */
final class WheelModel {
  final Wheel wheel;
  final Ticks ticks;
  private final long originNanos;
  private long clockNanos;

  private final NavigableMap<Long, Set<Node>> pending = new TreeMap<>();

  /** The pending timeouts, in the order in which they were started, to pick from. */
  private final List<Node> started = new ArrayList<>();

  /**
   * For every slot, the effective ticks of timeouts that were stopped or moved since the slot was
   * last empty. A bound may be one of these instead of the exact earliest tick.
   */
  private final Map<Slot, Set<Long>> leftTicks = new HashMap<>();

  /**
   * False from a poll until a later poll finds nothing due: meanwhile, a slot may be partly opened
   * or visited.
   */
  private boolean settled = true;

  /** Counts the checks. Checks that search remove marks, so most do not search. */
  private int checks;

  /** The last tick in which the wheel computed how far it can catch up. */
  private long followedTick = -1;

  WheelModel(long originNanos, long tickNanos, Function<Ticks, Wheel> wheels) {
    this.originNanos = originNanos;
    this.clockNanos = originNanos;
    this.ticks = new Ticks(tickNanos);
    this.wheel = wheels.apply(ticks);
    check();
  }

  // Time

  long elapsedNanos() {
    return clockNanos - originNanos;
  }

  long nowTick() {
    return ticks.tickAt(elapsedNanos());
  }

  /** Advances the clock by a span, but not beyond its ends. The wheel is not called. */
  void advance(long nanos) {
    long elapsedNanos = elapsedNanos() + nanos;
    if (elapsedNanos < 0) {
      elapsedNanos = nanos < 0 ? 0 : Long.MAX_VALUE;
    }
    clockNanos = originNanos + elapsedNanos;
  }

  /** Sets the clock to the very beginning of a tick. The wheel is not called. */
  void advanceTo(long tick) {
    clockNanos = originNanos + ticks.nanosAt(tick);
  }

  // Operations

  /** Starts a timeout that is due at the very beginning of a tick. */
  Node startAt(long tick) {
    return start(ticks.nanosAt(tick) - elapsedNanos());
  }

  List<Node> startAt(long tick, int count) {
    List<Node> timeouts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      timeouts.add(startAt(tick));
    }
    return timeouts;
  }

  Node startNever() {
    return start(Long.MAX_VALUE);
  }

  Node start(long delayNanos) {
    return start(delayNanos, elapsedNanos());
  }

  /** Starts a timeout with a stale reading of the clock. */
  Node start(long delayNanos, long elapsedNanos) {
    long deadlineNanos = Ticks.deadlineNanos(elapsedNanos, delayNanos);
    Node timeout = new BareNode(deadlineNanos);
    catchUp(
        elapsedNanos, () -> wheel.add(timeout, ticks.deadlineTick(deadlineNanos), elapsedNanos));
    insert(timeout);
    check();
    return timeout;
  }

  void stop(Node timeout) {
    leaves(timeout);
    long nowTick = wheel.nowTick;
    wheel.remove(timeout);
    assertThat(wheel.nowTick).as("now after removing").isEqualTo(nowTick);
    assertUnlinked(timeout);
    delete(timeout);
    check();
  }

  void moveTo(Node timeout, long tick) {
    move(timeout, ticks.nanosAt(tick) - elapsedNanos());
  }

  void move(Node timeout, long delayNanos) {
    move(timeout, delayNanos, elapsedNanos());
  }

  void move(Node timeout, long delayNanos, long elapsedNanos) {
    leaves(timeout);
    long deadlineNanos = Ticks.deadlineNanos(elapsedNanos, delayNanos);
    long formerTick = ticks.deadlineTick(timeout.deadlineNanos());
    catchUp(
        elapsedNanos,
        () -> wheel.move(timeout, deadlineNanos, ticks.deadlineTick(deadlineNanos), elapsedNanos));
    assertThat(timeout.deadlineNanos()).isEqualTo(deadlineNanos);
    delete(timeout, formerTick);
    insert(timeout);
    check();
  }

  /** Polls once, at the time of the clock. */
  Node poll() {
    return poll(nowTick());
  }

  /** Polls once, with a stale reading of the clock. */
  Node poll(long tick) {
    long before = wheel.nowTick;
    long targetTick = Math.max(tick, before);
    boolean nothingToDo = checks % 2 == 0 && wheel.nextTick() > targetTick;
    Node polled = wheel.poll(tick);
    assertThat(wheel.nowTick).as("now after polling").isBetween(before, targetTick);
    if (polled != null) {
      long deadlineTick = ticks.deadlineTick(polled.deadlineNanos());
      assertThat(deadlineTick).as("never early").isLessThanOrEqualTo(targetTick);
      assertThat(polled.deadlineNanos()).isLessThanOrEqualTo(ticks.nanosAt(targetTick));
      assertThat(Math.max(deadlineTick, before))
          .as("in the order of the ticks")
          .isEqualTo(Math.max(pending.firstKey(), before));
      assertThat(polled)
          .as("in the order of starting")
          .isSameAs(pending.get(deadlineTick).iterator().next());
      assertThat(wheel.nowTick).as("now").isEqualTo(Math.max(deadlineTick, before));
      assertUnlinked(polled);
      delete(polled);
      settled = false;
    } else {
      settled = !wheel.cutShort;
      if (settled) {
        assertThat(earliestTick()).as("late").isGreaterThan(targetTick);
      }
      if (nothingToDo && settled) {
        assertThat(wheel.nowTick).isEqualTo(targetTick);
      }
    }
    check();
    return polled;
  }

  void openAhead() {
    long nowTick = wheel.nowTick;
    wheel.openAhead();
    assertThat(wheel.nowTick).as("now after opening ahead").isEqualTo(nowTick);
    check();
  }

  /** Polls at the time of the clock until nothing is left to do. */
  List<Node> pollAll() {
    List<Node> polled = new ArrayList<>();
    // A hashed wheel of one slot walks past all timeouts once for every occupied tick.
    long rounds = 100L + 20L * size() + (long) size() * size() / Wheel.POLL_BUDGET;
    do {
      assertThat(rounds--).as("polls that are left").isPositive();
      Node timeout = poll();
      if (timeout != null) {
        polled.add(timeout);
      }
    } while (!settled);
    return polled;
  }

  /** Sets the clock to a tick, and polls until nothing is left to do. */
  List<Node> runTo(long tick) {
    advanceTo(tick);
    return pollAll();
  }

  List<Node> drain(int limit) {
    for (Node timeout : started) {
      leaves(timeout); // not needed for every timeout, but it only widens the accepted bounds
    }
    int expected = Math.min(limit, size());
    List<Node> drained = new ArrayList<>();
    wheel.drain(drained::add, limit);
    assertThat(drained).hasSize(expected);
    for (Node timeout : drained) {
      assertUnlinked(timeout);
      delete(timeout);
    }
    check();
    return drained;
  }

  // Queries

  int size() {
    return started.size();
  }

  /** Returns one of the pending timeouts, by the order in which they were started. */
  Node pick(int number) {
    return started.get(number);
  }

  /** Returns all timeouts in the slot of a timeout. */
  List<Node> slotMates(Node timeout) {
    return WheelChecks.content(WheelChecks.slotOf(wheel, timeout));
  }

  /** Returns the effective tick of the timeout that is due next. */
  long earliestTick() {
    return pending.isEmpty() ? Ticks.NEVER : Math.max(pending.firstKey(), wheel.nowTick);
  }

  // The model

  private void insert(Node timeout) {
    long tick = ticks.deadlineTick(timeout.deadlineNanos());
    pending
        .computeIfAbsent(tick, key -> new LinkedHashSet<>()) // equality is identity
        .add(timeout);
    started.add(timeout);
  }

  private void delete(Node timeout) {
    delete(timeout, ticks.deadlineTick(timeout.deadlineNanos()));
  }

  private void delete(Node timeout, long tick) {
    Set<Node> same = pending.get(tick);
    assertThat(same).as("timeouts that are pending and due at %s", tick).isNotNull();
    assertThat(same.remove(timeout)).as("was pending").isTrue();
    if (same.isEmpty()) {
      pending.remove(tick);
    }
    started.remove(timeout); // equality is identity
  }

  private void leaves(Node timeout) {
    leftTicks
        .computeIfAbsent(WheelChecks.slotOf(wheel, timeout), slot -> new HashSet<>())
        .add(WheelChecks.effectiveTick(wheel, timeout));
  }

  /** Adds or moves a timeout, and checks how far the wheel caught up with the time. */
  private void catchUp(long elapsedNanos, Runnable operation) {
    long expected = wheel.nowTick;
    if (elapsedNanos >= ticks.nanosAt(followedTick + 1)) {
      followedTick = ticks.tickAt(elapsedNanos);
      expected = nowTickAfterCatchUp(followedTick);
    }
    operation.run();
    assertThat(wheel.nowTick).as("now").isEqualTo(expected);
  }

  /**
   * Returns {@code nowTick} after a catch-up. A hierarchical wheel catches up to the last tick
   * before its first occupied slot, and not at all if that slot is of level 0. It does so at most
   * once per tick.
   */
  private long nowTickAfterCatchUp(long tick) {
    long nowTick = wheel.nowTick;
    if (!(wheel instanceof HierarchicalWheel) || tick <= nowTick) {
      return nowTick;
    }
    Slot inTheWay = null;
    for (Node timeout : started) {
      Slot slot = WheelChecks.slotOf(wheel, timeout);
      if (inTheWay == null
          || slot.startTick < inTheWay.startTick
          || (slot.startTick == inTheWay.startTick && slot.index > inTheWay.index)) {
        inTheWay = slot;
      }
    }
    if (inTheWay == null || inTheWay.startTick > tick) {
      return tick;
    }
    return inTheWay.index < HierarchicalWheel.PLACES ? nowTick : inTheWay.startTick - 1;
  }

  private void check() {
    boolean searching = ++checks % 4 == 0;
    IdentityHashMap<Node, Slot> places = WheelChecks.check(wheel, searching);
    if (places.size() != size() || !places.keySet().containsAll(started)) {
      throw new AssertionError("the wheel has " + places.size() + " timeouts, not " + size());
    }
    leftTicks.keySet().removeIf(Slot::isEmpty);
    Map<Slot, Long> earliest = new HashMap<>();
    places.forEach(
        (timeout, slot) ->
            earliest.merge(slot, WheelChecks.effectiveTick(wheel, timeout), Math::min));
    long earliestBound = Ticks.NEVER;
    for (Map.Entry<Slot, Long> entry : earliest.entrySet()) {
      Slot slot = entry.getKey();
      earliestBound = Math.min(earliestBound, slot.earliestTick);
      if (slot.earliestTick != entry.getValue() && !mayBeInexact(slot)) {
        throw new AssertionError(
            "bound " + slot.earliestTick + " of a slot, not " + entry.getValue());
      }
    }
    if (!searching) {
      return;
    }
    long next = wheel.nextTick();
    boolean unfinished = next == wheel.nowTick && (!settled || isOpening());
    boolean ahead = next < earliestBound && isCrowded(earliest.keySet());
    if (next != earliestBound && !unfinished && !ahead) {
      throw new AssertionError("next tick " + next + ", not " + earliestBound);
    }
    if (leftTicks.isEmpty() && next != earliestTick() && !unfinished && !ahead) {
      throw new AssertionError("next tick " + next + ", not " + earliestTick());
    }
  }

  private boolean isOpening() {
    return wheel instanceof HierarchicalWheel hierarchical && WheelChecks.isOpening(hierarchical);
  }

  /** Returns whether a slot is to be opened ahead of time. */
  private boolean isCrowded(Set<Slot> slots) {
    return wheel instanceof HierarchicalWheel hierarchical
        && slots.stream()
            .anyMatch(slot -> slot.index >= 512 && slot.size() >= hierarchical.largeSlot);
  }

  private boolean mayBeInexact(Slot slot) {
    if (leftTicks.getOrDefault(slot, Set.of()).contains(slot.earliestTick)) {
      return true;
    }
    return wheel instanceof HierarchicalWheel hierarchical
        ? WheelChecks.isBeingOpened(hierarchical, slot)
        : !settled && slot.earliestTick == wheel.nowTick;
  }

  private static void assertUnlinked(Node timeout) {
    if (timeout.next != null || timeout.prev != null) {
      throw new AssertionError("a timeout that left the wheel is still linked");
    }
  }
}
