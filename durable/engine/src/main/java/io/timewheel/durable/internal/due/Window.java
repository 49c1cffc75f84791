// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

import io.timewheel.durable.internal.health.GuardedLog;
import io.timewheel.durable.internal.time.EpochMillis;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.DuePosition;
import io.timewheel.durable.spi.DueTimer;
import io.timewheel.durable.spi.TimerRecord;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Holds the entries of one part of a shard that are due soon, on the wheel.
 *
 * <h2>No timer is missed</h2>
 *
 * {@code loaded} is a position in the due index. Every record of this part at or before it has its
 * entry here, or is being handled. It is moved ahead <em>before</em> the index is read:
 *
 * <pre>
 *   loader                          thread that commits a record at p
 *   1 loaded = end                  1 commit
 *   2 read the index                2 if p is at or before loaded, offer the entry
 * </pre>
 *
 * If the commit comes before the read, the read finds the record. If it comes after the read,
 * {@code loaded} was moved before the commit, and the entry is offered. If both happen, the newer
 * reading of the record wins, and the store refuses a claim that is based on an old one.
 *
 * <p>Other sessions do not offer their commits. {@link Sweeps} find them. A window reads further if
 * a sweep found more than a page, or from the time of a notification on.
 *
 * <p>If the part of a window changes, the window starts again. It then accepts entries of an older
 * read only if they are in the new part.
 *
 * <h2>Size</h2>
 *
 * A window holds at most {@code cap} entries. If more are offered, the latest ones are dropped and
 * {@code loaded} is moved back to the last remaining one. Loading continues from there.
 *
 * <p>If handlers have a {@link HandlerQuota}, a handler that has reached its share is passed over.
 * That handler has its own, earlier {@code loaded} until the window returns for it. The window
 * reads a bounded number of pages at a time in both cases, so that other work can use the store.
 */
final class Window {
  private static final System.Logger LOG = GuardedLog.LOG;
  private static final int PAGE = 1_000;

  /** The largest number of pages that are read at a time while a handler is passed over. */
  private static final int MAX_PAGES = 16;

  /** No sweep is needed. */
  private static final long NOTHING = Long.MAX_VALUE;

  private static final Comparator<DueEntry> BY_POSITION =
      Comparator.comparing(entry -> entry.due.position());

  private final DueContext context;
  private final Shard shard;
  private final int cap;
  private final long spanMillis;
  private final long aheadMillis;

  private final ReentrantLock lock;
  private final Map<TimerKey, DueEntry> entries = new HashMap<>();
  private final HandlerQuota shares;

  /** The bounds of the part, as due times: the first is inclusive, the second exclusive. */
  private long beginMillis = Long.MIN_VALUE;

  private long endMillis = Long.MAX_VALUE;
  private @Nullable DuePosition loaded;
  private boolean loading;
  private boolean fromStart = true;

  /** The time from which to find timers that other sessions have added to the part already read. */
  private long sweepFrom = NOTHING;

  /**
   * True if the last load was a sweep. The next one continues at the frontier, because sweeps may
   * take longer than their interval.
   */
  private boolean swept;

  /**
   * True if a timer could not be read or put on the wheel. The next maintenance tick tries again.
   */
  private boolean again;

  /**
   * True if the last load re-read a passed-over handler. The next one continues at the frontier.
   */
  private boolean cameBack;

  /**
   * True from the time that the window was too full until it has room again, or until the next
   * maintenance tick. Until then, a passed-over handler does not make the window read further: the
   * window would drop the new entries again.
   */
  private boolean shrunk;

  private boolean closed;

  Window(DueContext context, Shard shard, int cap, int share) {
    this.context = context;
    this.shard = shard;
    this.cap = cap;
    shares = new HandlerQuota(share);
    lock = shard.lock;
    spanMillis = context.store().traits().window().toMillis();
    aheadMillis = context.claimAheadMillis();
  }

  // Due entries

  /** Handles an entry that is due by the clock of the wheel. */
  void fired(DueEntry entry) {
    lock.lock();
    try {
      if (entry.isDropped()) {
        return;
      }
      if (millisLeft(entry) > 0) {
        armOrDrop(entry); // the wall clock is behind the wheel's
        return;
      }
    } finally {
      lock.unlock();
    }
    context.sink().due(entry);
  }

  /** Returns the time left until an entry must begin. Only timers of handlers are claimed ahead. */
  private long millisLeft(DueEntry entry) {
    long early = context.sink().isClaimedAhead(entry.due) ? aheadMillis : 0;
    return EpochMillis.saturatedSubtract(
        entry.due.fireAt(), EpochMillis.saturatedAdd(context.nowMillis(), early));
  }

  /**
   * Puts the entry on the wheel. If the wheel refuses, the next maintenance tick reads the entry
   * again.
   */
  private boolean armOrDrop(DueEntry entry) {
    try {
      entry.arm(context.delays().wheel(), millisLeft(entry));
      return true;
    } catch (RuntimeException | Error e) {
      if (e instanceof IllegalStateException) {
        // The wheel was stopped. Reported on another thread, which holds no lock of a shard.
        boolean unused = context.tasks().read(context.delays()::stopped);
      } else if (!again) {
        LOG.log(System.Logger.Level.WARNING, "the wheel refuses entries; each tick reads them", e);
      }
      entry.drop();
      remove(entry);
      again = true;
      return false;
    }
  }

  /**
   * Removes an entry to handle it. Returns false if it was dropped, or if the clock was set back
   * since it became due. In the second case it is armed again.
   */
  boolean begin(DueEntry entry) {
    lock.lock();
    try {
      if (entry.isDropped() || closed) {
        return false;
      }
      if (millisLeft(entry) > 0) {
        armOrDrop(entry);
        return false;
      }
      if (!shard.begin(entry.due)) {
        return false;
      }
      entry.begun();
      remove(entry);
      return true;
    } finally {
      lock.unlock();
    }
  }

  // Offers

  /** Handles a record after a commit. */
  void observe(TimerRecord record) {
    if (record.isIndexed()) {
      offer(record.due());
      return;
    }
    lock.lock();
    try {
      DueEntry old = entries.get(record.key());
      if (old != null && record.due().isNewerThan(old.due)) {
        old.drop();
        remove(old);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Adds a timer that a read has found. Returns false if the wheel refuses further entries. */
  boolean offer(DueTimer due) {
    DueEntry entry;
    boolean isDue;
    lock.lock();
    try {
      if (closed || shard.isHandling(due)) {
        return true;
      }
      DueEntry old = entries.get(due.key());
      if (old != null && !due.isNewerThan(old.due)) {
        return true;
      }
      if (old != null) {
        old.drop();
        remove(old);
      }
      if (!covers(due) || !hasRoom(due)) {
        return true;
      }
      entry = new DueEntry(this, shard, due);
      entries.put(due.key(), entry);
      shares.added(shareOf(due));
      isDue = millisLeft(entry) <= 0;
      if (!isDue && !armOrDrop(entry)) {
        return false;
      }
      if (entries.size() > cap) {
        shrink();
      }
    } finally {
      lock.unlock();
    }
    if (isDue) {
      context.sink().due(entry); // without waiting for a tick
    }
    return true;
  }

  private boolean covers(DueTimer due) {
    return loaded != null
        && due.position().compareTo(loaded) <= 0
        && due.fireAt() >= beginMillis
        && due.fireAt() < endMillis
        && !shares.isPassedOver(shareOf(due), due.position());
  }

  private String shareOf(DueTimer due) {
    return context.sink().shareOf(due);
  }

  private void remove(DueEntry entry) {
    if (entries.remove(entry.due.key(), entry)) {
      shares.removed(shareOf(entry.due));
      shrunk &= entries.size() > roomBelow();
    }
  }

  /**
   * Makes room for an entry of a handler that has reached its share, or passes the handler over.
   */
  private boolean hasRoom(DueTimer due) {
    String handler = shareOf(due);
    if (!shares.isFull(handler)) {
      return true;
    }
    List<DueEntry> mine = new ArrayList<>();
    for (DueEntry entry : entries.values()) {
      if (shareOf(entry.due).equals(handler)) {
        mine.add(entry);
      }
    }
    mine.sort(BY_POSITION);
    DueEntry farthest = mine.get(mine.size() - 1);
    boolean nearer = due.position().compareTo(farthest.due.position()) < 0;
    if (nearer) {
      farthest.drop();
      remove(farthest);
      mine.remove(farthest);
    }
    DuePosition last = mine.isEmpty() ? due.position() : mine.get(mine.size() - 1).due.position();
    shares.passOver(handler, nearer && last.compareTo(due.position()) < 0 ? due.position() : last);
    return nearer;
  }

  private void shrink() {
    List<DueEntry> byTime = new ArrayList<>(entries.values());
    byTime.sort(BY_POSITION);
    int kept = Math.max(1, cap / 2);
    for (DueEntry far : byTime.subList(kept, byTime.size())) {
      far.drop();
      remove(far);
    }
    loaded = byTime.get(kept - 1).due.position();
    shrunk = true;
  }

  // The part, under the lock of the shard

  /**
   * Moves the beginning of the part: passes earlier entries to another window, or takes them over
   * from a window that has ended.
   */
  void beginAt(long millis) {
    beginMillis = millis;
    dropOthers();
    if (loaded != null && loaded.fireAt() <= millis) {
      loaded = null;
    }
    fromStart = true;
  }

  /** Moves the end of the part: passes later entries to another window. */
  void endAt(long millis) {
    endMillis = millis;
    dropOthers();
  }

  private void dropOthers() {
    for (DueEntry entry : List.copyOf(entries.values())) {
      if (entry.due.fireAt() < beginMillis || entry.due.fireAt() >= endMillis) {
        entry.drop();
        remove(entry);
      }
    }
  }

  /** Returns whether all timers of the part were read and have been handled. */
  boolean isExhausted() {
    return entries.isEmpty()
        && !shares.anyPassedOver()
        && !loading
        && !fromStart
        && !again
        && loaded != null
        && loaded.fireAt() >= endMillis;
  }

  /**
   * Returns whether the window cannot read coming timers because it is full of overdue ones. Timers
   * that are due right now do not count. Dividing the index at the same time again would change
   * nothing, and with a stopped clock the window would read forever.
   */
  boolean isStuckBefore(long nowMillis) {
    return !loading
        && loaded != null
        && loaded.fireAt() < nowMillis
        && entries.size() > roomBelow();
  }

  /** Returns whether timers that are due at a time have been read. */
  boolean reaches(long fireAt) {
    return loaded != null && fireAt <= loaded.fireAt();
  }

  /** Makes the next load start at the beginning. */
  void startAgain() {
    fromStart = true;
  }

  /**
   * Makes the next load a sweep, which finds timers that other sessions have added, from a due time
   * on.
   */
  void sweep(long fireAt) {
    sweepFrom = Math.min(sweepFrom, fireAt);
  }

  /** Makes the first load after the next maintenance tick start at the beginning. */
  void startAgainLater() {
    again = true;
  }

  /**
   * Makes the next load start at the beginning if a timer could not be read or put on the wheel.
   * Lets a window that was too full read on once, for handlers that are not stalled.
   */
  void tick() {
    fromStart |= again;
    again = false;
    shrunk = false;
  }

  // Loading

  private int roomBelow() {
    return cap / 4;
  }

  /**
   * Starts a load if the window has enough room, or if a sweep, a restart or a passed-over handler
   * requires it.
   */
  void loadIfRoom() {
    boolean start;
    lock.lock();
    try {
      start =
          !closed
              && !loading
              && (fromStart || sweepFrom != NOTHING || isMoreWanted() || shares.anyToCatchUp());
      loading |= start;
    } finally {
      lock.unlock();
    }
    if (start && !context.tasks().read(this::load)) {
      loadingEnded(false); // closed
    }
  }

  /** Returns whether timers remain to be read and the window has room for them. */
  private boolean isMoreWanted() {
    boolean reached =
        loaded != null
            && (loaded.fireAt() >= endMillis
                || EpochMillis.saturatedSubtract(loaded.fireAt(), context.nowMillis())
                    > spanMillis / 2);
    boolean room =
        entries.size() <= roomBelow()
            || (!shrunk && shares.anyPassedOver() && entries.size() < cap);
    return !reached && room;
  }

  private void load() {
    boolean complete = false;
    try {
      context.lookAtClock().run();
      complete = readNext();
    } catch (RuntimeException | Error e) {
      if (!shard.isClosed()) { // a failure after the close does not count as one of the store
        context.health().reading.failed("a reading of shard " + shard.number, e);
      }
    }
    loadingEnded(complete);
  }

  /**
   * Reads the next pages. Returns false if the wheel refuses further entries or the window is
   * closed.
   */
  private boolean readNext() {
    DuePosition after;
    long until;
    Set<String> cameBackFor = new HashSet<>();
    lock.lock();
    try {
      if (closed) {
        return false;
      }
      boolean otherIsNext = swept && (isMoreWanted() || shares.anyToCatchUp());
      boolean toSweep = sweepFrom != NOTHING && !fromStart && loaded != null && !otherIsNext;
      long from = sweepFrom;
      if (toSweep || fromStart || loaded == null) { // this load includes the sweep
        sweepFrom = NOTHING;
      }
      swept = toSweep;
      cameBack = !fromStart && !toSweep && shares.anyToCatchUp() && !(cameBack && isMoreWanted());
      if (toSweep) {
        after = endOf(Math.max(beginMillis, from));
        until = Math.min(readUntil(), Sweeps.end(context));
      } else if (cameBack && loaded != null) {
        after = shares.catchUp(cameBackFor);
        until = readUntil();
      } else {
        after = fromStart || loaded == null ? beginning() : loaded;
        fromStart = false;
        until =
            Math.min(
                endMillis,
                Math.max(
                    EpochMillis.saturatedAdd(context.nowMillis(), spanMillis),
                    loaded == null ? Long.MIN_VALUE : loaded.fireAt()));
        loaded = endOf(until);
      }
    } finally {
      lock.unlock();
    }
    return readPages(after, until, cameBackFor);
  }

  /** Returns the end of the loaded part, for a load that does not continue from there. */
  private long readUntil() {
    return loaded == null ? Long.MIN_VALUE : EpochMillis.saturatedAdd(loaded.fireAt(), 1);
  }

  private @Nullable DuePosition beginning() {
    return beginMillis == Long.MIN_VALUE ? null : endOf(beginMillis);
  }

  private void loadingEnded(boolean complete) {
    lock.lock();
    try {
      loading = false;
      again |= !complete;
    } finally {
      lock.unlock();
    }
    if (complete) {
      shard.look();
    }
  }

  /** Reads pages. Returns false if the wheel refuses further entries. */
  private boolean readPages(@Nullable DuePosition from, long until, Set<String> cameBackFor) {
    DuePosition after = from;
    boolean more = true;
    for (int pages = 1; more; pages++) {
      List<DueTimer> page = context.store().due(shard.number, until, after, PAGE);
      context.health().reading.answered();
      if (swept) {
        shard.found(page.size());
      }
      for (DueTimer due : page) {
        if (!offer(due)) {
          return false;
        }
      }
      more = page.size() == PAGE;
      if (more) {
        after = page.get(PAGE - 1).position();
        more = isWorthwhile(after, pages, cameBackFor);
      }
    }
    return true;
  }

  /**
   * Returns whether to continue to read at once; otherwise a later load continues from the
   * position.
   */
  private boolean isWorthwhile(DuePosition position, int pages, Set<String> cameBackFor) {
    lock.lock();
    try {
      boolean more = !closed && loaded != null && position.compareTo(loaded) < 0;
      if (!cameBackFor.isEmpty()) {
        more &= !shares.arePassedOver(cameBackFor, position);
      }
      if (more && pages >= MAX_PAGES && shares.anyPassedOver()) {
        if (cameBackFor.isEmpty()) {
          loaded = position;
        } else {
          shares.passOver(cameBackFor, position);
        }
        more = false;
      }
      return more;
    } finally {
      lock.unlock();
    }
  }

  /** Returns the position after all entries before a time. */
  private static DuePosition endOf(long until) {
    return new DuePosition(until, new TimerKey("", ""));
  }

  // Time and close, under the lock of the shard

  /** Re-arms every entry by the wall clock. */
  void rearm() {
    for (DueEntry entry : entries.values()) {
      entry.rearm(Math.max(0, millisLeft(entry)));
    }
  }

  void close() {
    closed = true;
    entries.values().forEach(DueEntry::drop);
    entries.clear();
  }

  int size() {
    return entries.size();
  }
}
