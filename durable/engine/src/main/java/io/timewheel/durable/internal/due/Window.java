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
 * The entries of one part of a shard that are due soon, on the wheel.
 *
 * <h2>Nothing is slept through</h2>
 *
 * {@code loaded} is a position in the due index: every record of this part at or before it has its
 * entry here, or is being handled. It is moved ahead <em>before</em> the index is read:
 *
 * <pre>
 *   loader                          whoever commits a record at position p
 *   1 loaded = end                  1 commit
 *   2 read the index                2 if p is at or before loaded, offer the entry
 * </pre>
 *
 * If the commit comes before the reading, the reading finds the record. If it comes after, {@code
 * loaded} was moved before the commit, and the entry is offered. If both happen, the newer reading
 * of the record wins, and an old one that slips in is refused by the claim.
 *
 * <p>What others commit is not offered by them. {@link Sweeps} look for it; a window reads on where
 * a sweep found more than a page, and from the time of a hint on.
 *
 * <p>The part that a window has may change: then it begins anew, and what it offers meanwhile from
 * an older reading is taken only if it is in the new part.
 *
 * <h2>Size</h2>
 *
 * At most {@code cap} entries are held. When more are offered, those furthest away are dropped and
 * {@code loaded} is moved back to the last one that stayed; loading goes on from there.
 *
 * <p>Where handlers have {@link HandlerQuota}, one that has its share is passed over, and has an
 * earlier {@code loaded} of its own until the window has come back for it. Passing over and coming
 * back read a bounded number of pages at a time: others want the store, too.
 */
final class Window {
  private static final System.Logger LOG = GuardedLog.LOG;
  private static final int PAGE = 1_000;

  /** How many pages are read in one go while a handler is behind. */
  private static final int MAX_PAGES = 16;

  /** There is nothing to sweep. */
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

  /** The part: what is due at the first time or later, and before the second. */
  private long beginMillis = Long.MIN_VALUE;

  private long endMillis = Long.MAX_VALUE;
  private @Nullable DuePosition loaded;
  private boolean loading;
  private boolean fromStart = true;

  /** From when on to look for what others have put where it was read already. */
  private long sweepFrom = NOTHING;

  /**
   * Whether it swept last, and goes on where others are next: reading may take longer than that.
   */
  private boolean swept;

  /** Whether something could not be read or put on the wheel: with the next beat it is again. */
  private boolean again;

  /** Whether it came back for a handler last, and goes on where others are next. */
  private boolean cameBack;

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

  // Entries, whose time has come

  /** The time of an entry has come, by the clock of the timer. */
  void fired(DueEntry entry) {
    lock.lock();
    try {
      if (entry.isDropped()) {
        return;
      }
      if (millisLeft(entry) > 0) {
        armOrDrop(entry); // the wall clock is behind the timer's
        return;
      }
    } finally {
      lock.unlock();
    }
    context.sink().due(entry);
  }

  /** Only what a handler will run is claimed ahead: nothing waits between a queue and its time. */
  private long millisLeft(DueEntry entry) {
    long early = context.sink().isClaimedAhead(entry.due) ? aheadMillis : 0;
    return EpochMillis.saturatedSubtract(
        entry.due.fireAt(), EpochMillis.saturatedAdd(context.nowMillis(), early));
  }

  /** Puts the entry on the wheel; if the wheel refuses, the next beat reads it again. */
  private boolean armOrDrop(DueEntry entry) {
    try {
      entry.arm(context.delays().wheel(), millisLeft(entry));
      return true;
    } catch (RuntimeException | Error e) {
      if (e instanceof IllegalStateException) {
        // Stopped. On another thread, which has no lock of a shard.
        boolean unused = context.tasks().read(context.delays()::stopped);
      } else if (!again) {
        LOG.log(System.Logger.Level.WARNING, "the wheel refuses entries; read with each beat", e);
      }
      entry.drop();
      remove(entry);
      again = true;
      return false;
    }
  }

  /**
   * Takes an entry out, for its handling to begin; false if it holds no longer, or if the clock has
   * gone back since its time had come: then it comes again.
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

  /** A record as it was left by a commit. */
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

  /** Takes what a reading has found; returns false if the wheel refuses more. */
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
      context.sink().due(entry); // and not a tick later
    }
    return true;
  }

  private boolean covers(DueTimer due) {
    return loaded != null
        && due.position().compareTo(loaded) <= 0
        && due.fireAt() >= beginMillis
        && due.fireAt() < endMillis
        && !shares.isBehind(shareOf(due), due.position());
  }

  private String shareOf(DueTimer due) {
    return context.sink().shareOf(due);
  }

  private void remove(DueEntry entry) {
    if (entries.remove(entry.due.key(), entry)) {
      shares.removed(shareOf(entry.due));
    }
  }

  /** Makes room for an entry of a handler that has its share, or leaves the handler behind. */
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
    shares.leaveBehind(
        handler, nearer && last.compareTo(due.position()) < 0 ? due.position() : last);
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
  }

  // Its part, under the lock of the shard

  /** Leaves what is earlier to another window, or takes it over from one that is gone. */
  void beginAt(long millis) {
    beginMillis = millis;
    dropOthers();
    if (loaded != null && loaded.fireAt() <= millis) {
      loaded = null;
    }
    fromStart = true;
  }

  /** Leaves later entries to another window. */
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

  /** Whether all of its part was read and has begun. */
  boolean isExhausted() {
    return entries.isEmpty()
        && !shares.anyBehind()
        && !loading
        && !fromStart
        && !again
        && loaded != null
        && loaded.fireAt() >= endMillis;
  }

  /**
   * Whether it cannot read what comes, because it is full of what is overdue. What is due right now
   * does not count: to part the index at the same time again would change nothing, and a clock that
   * stands still would have it read for ever.
   */
  boolean isStuckBefore(long nowMillis) {
    return !loading
        && loaded != null
        && loaded.fireAt() < nowMillis
        && entries.size() > roomBelow();
  }

  /** Whether a time is in the part that was read. */
  boolean reaches(long fireAt) {
    return loaded != null && fireAt <= loaded.fireAt();
  }

  /** Has the next look begin at the beginning. */
  void startAgain() {
    fromStart = true;
  }

  /**
   * Has the next look find what others have put where it is due from a time on, and before the
   * sweep after this one.
   */
  void sweep(long fireAt) {
    sweepFrom = Math.min(sweepFrom, fireAt);
  }

  /** Has the first look after the next beat begin at the beginning. */
  void startAgainLater() {
    again = true;
  }

  /** Has what could not be read or held before be read again. */
  void beat() {
    fromStart |= again;
    again = false;
  }

  // Loading

  private int roomBelow() {
    return cap / 4;
  }

  /** Reads what has come into reach, if that is worth it by now. */
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

  /** Whether there is more to read and room for it; only some of it may be passed over. */
  private boolean isMoreWanted() {
    boolean reached =
        loaded != null
            && (loaded.fireAt() >= endMillis
                || EpochMillis.saturatedSubtract(loaded.fireAt(), context.nowMillis())
                    > spanMillis / 2);
    boolean room = entries.size() <= roomBelow() || (shares.anyBehind() && entries.size() < cap);
    return !reached && room;
  }

  private void load() {
    boolean complete = false;
    try {
      context.lookAtClock().run();
      complete = readNext();
      context.health().reading.answered();
    } catch (RuntimeException | Error e) {
      if (!shard.isClosed()) { // or it is the end of the engine, and no fault of the store
        context.health().reading.failed("a reading of shard " + shard.number, e);
      }
    }
    loadingEnded(complete);
  }

  /** Returns false if the wheel refuses more, or the window is closed. */
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
      if (toSweep || fromStart || loaded == null) { // which includes it
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

  /** The end of what was read, for a reading that does not go on from there. */
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

  /** Returns false if the wheel refuses more. */
  private boolean readPages(@Nullable DuePosition from, long until, Set<String> cameBackFor) {
    DuePosition after = from;
    boolean more = true;
    for (int pages = 1; more; pages++) {
      List<DueTimer> page = context.store().due(shard.number, until, after, PAGE);
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

  /** Whether to read on behind a position in one go; if not, it is gone on from there later. */
  private boolean isWorthwhile(DuePosition position, int pages, Set<String> cameBackFor) {
    lock.lock();
    try {
      boolean more = !closed && loaded != null && position.compareTo(loaded) < 0;
      if (!cameBackFor.isEmpty()) {
        more &= !shares.areBehind(cameBackFor, position);
      }
      if (more && pages >= MAX_PAGES && shares.anyBehind()) {
        if (cameBackFor.isEmpty()) {
          loaded = position;
        } else {
          shares.leaveBehind(cameBackFor, position);
        }
        more = false;
      }
      return more;
    } finally {
      lock.unlock();
    }
  }

  /** Behind everything before a time. */
  private static DuePosition endOf(long until) {
    return new DuePosition(until, new TimerKey("", ""));
  }

  // Time and end, under the lock of the shard

  /** Sets every entry to the wall clock again. */
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
