// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

import io.timewheel.durable.internal.due.LoadPlan.Load;
import io.timewheel.durable.internal.health.GuardedLog;
import io.timewheel.durable.internal.time.EpochMillis;
import io.timewheel.durable.spi.record.DuePosition;
import io.timewheel.durable.spi.record.DueTimer;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Holds the entries of one part of a shard that are due soon, on the wheel.
 *
 * <h2>No timer is missed</h2>
 *
 * {@link Coverage} contains a position in the due index, {@code loaded}. Every record of this part
 * at or before it has its entry here, or is being handled. It is moved ahead <em>before</em> the
 * index is read:
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
 * <p>A handler that has reached its share is passed over until the window returns for it. The
 * window reads a bounded number of pages at a time in both cases, so that other work can use the
 * store. {@link LoadPlan} chooses the next load.
 */
final class Window {
  private static final System.Logger LOG = GuardedLog.LOG;
  private static final int PAGE = 1_000;

  private final DueContext context;
  private final Shard shard;
  private final long spanMillis;
  private final long aheadMillis;

  private final ReentrantLock lock;
  private final WindowEntries entries;
  private final Coverage coverage;
  final LoadPlan plan = new LoadPlan();
  private boolean loading;

  private boolean closed;

  Window(DueContext context, Shard shard, int cap, int share) {
    this.context = context;
    this.shard = shard;
    entries = new WindowEntries(cap, share);
    coverage = new Coverage(entries::hasRoom);
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
    long early = entry.isClaimedAhead() ? aheadMillis : 0;
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
      } else if (!plan.restartsAtTick()) {
        LOG.log(System.Logger.Level.WARNING, "the wheel refuses entries; each tick reads them", e);
      }
      entries.drop(entry);
      plan.restartAtTick();
      return false;
    }
  }

  /**
   * Removes an entry to handle it. Returns false if it was dropped, or if the clock was set back
   * since it became due. In the second case it is armed again.
   */
  boolean take(DueEntry entry) {
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
      entry.taken();
      entries.remove(entry);
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
        entries.drop(old);
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
        entries.drop(old);
      }
      entry = new DueEntry(this, shard, due, shareOf(due));
      if (!coverage.covers(due.position(), entry.share) || !entries.makeRoom(entry, coverage)) {
        return true;
      }
      entries.add(entry);
      isDue = millisLeft(entry) <= 0;
      if (!isDue && !armOrDrop(entry)) {
        return false;
      }
      entries.shrinkIfFull(coverage);
    } finally {
      lock.unlock();
    }
    if (isDue) {
      context.sink().due(entry); // without waiting for a tick
    }
    return true;
  }

  private String shareOf(DueTimer due) {
    return !due.queue() && context.handlers().knows(due.handler()) ? due.handler() : "";
  }

  // The part, under the lock of the shard

  /**
   * Moves the beginning of the part: passes earlier entries to another window, or takes them over
   * from a window that has ended.
   */
  void beginAt(long millis) {
    coverage.beginAt(millis);
    dropOthers();
    plan.restart();
  }

  /** Moves the end of the part: passes later entries to another window. */
  void endAt(long millis) {
    coverage.endAt(millis);
    dropOthers();
  }

  private void dropOthers() {
    entries.dropIf(entry -> !coverage.contains(entry.due.fireAt()));
  }

  /** Returns whether all timers of the part were read and have been handled. */
  boolean isExhausted() {
    return entries.size() == 0 && !loading && !plan.restarts() && coverage.isComplete();
  }

  /**
   * Returns whether the window cannot read coming timers because it is full of overdue ones. Timers
   * that are due right now do not count. Dividing the index at the same time again would change
   * nothing, and with a stopped clock the window would read forever.
   */
  boolean isStuckBefore(long nowMillis) {
    return !loading && coverage.endsBefore(nowMillis) && entries.isFilled();
  }

  boolean reaches(long fireAt) {
    return coverage.reaches(fireAt);
  }

  /**
   * Makes the next load start at the beginning if a timer could not be read or put on the wheel.
   * Lets a window that was too full read on once, for handlers that are not stalled.
   */
  void tick() {
    plan.tick();
    entries.tick();
  }

  // Loading

  private @Nullable Load nextLoad() {
    return closed ? null : plan.next(coverage.canCatchUp(), isMoreWanted());
  }

  /** Returns whether timers remain to be read and the window has room for them. */
  private boolean isMoreWanted() {
    boolean room = !entries.isFilled() || (coverage.hasPassedOver() && entries.hasRoomForOthers());
    return room
        && coverage.isShortOf(EpochMillis.saturatedAdd(context.nowMillis(), spanMillis / 2));
  }

  void loadIfRoom() {
    boolean start;
    lock.lock();
    try {
      start = !loading && nextLoad() != null;
      loading |= start;
    } finally {
      lock.unlock();
    }
    if (start && !context.tasks().read(this::load)) {
      loadingEnded(false); // closed
    }
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

  private void loadingEnded(boolean complete) {
    lock.lock();
    try {
      loading = false;
      if (!complete) {
        plan.restartAtTick();
      }
    } finally {
      lock.unlock();
    }
    if (complete) {
      shard.look();
    }
  }

  /**
   * Reads the next pages. Returns false if the wheel refuses further entries or the window is
   * closed.
   */
  private boolean readNext() {
    Load load;
    Coverage.Section section;
    lock.lock();
    try {
      load = nextLoad();
      if (load == null) {
        return !closed;
      }
      long sweepFrom = plan.begin(load);
      section =
          switch (load) {
            case SWEEP -> coverage.beginSweep(sweepFrom, Sweeps.end(context));
            case CATCH_UP -> coverage.beginCatchUp();
            case RESTART, FRONTIER ->
                coverage.begin(
                    load == Load.RESTART,
                    EpochMillis.saturatedAdd(context.nowMillis(), spanMillis));
          };
    } finally {
      lock.unlock();
    }
    return readPages(load, section);
  }

  /** Reads pages. Returns false if the wheel refuses further entries. */
  private boolean readPages(Load load, Coverage.Section section) {
    DuePosition after = section.after();
    boolean more = true;
    for (int pages = 1; more; pages++) {
      List<DueTimer> page = context.store().due(shard.number, section.until(), after, PAGE);
      context.health().reading.answered();
      if (load == Load.SWEEP) {
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
        more = continues(section, after, pages);
      }
    }
    return true;
  }

  private boolean continues(Coverage.Section section, DuePosition position, int pages) {
    lock.lock();
    try {
      return !closed && coverage.continues(section, position, pages);
    } finally {
      lock.unlock();
    }
  }

  // Time and close, under the lock of the shard

  /** Re-arms every entry by the wall clock. */
  void rearm() {
    for (DueEntry entry : entries.all()) {
      entry.rearm(Math.max(0, millisLeft(entry)));
    }
  }

  void close() {
    closed = true;
    entries.clear();
  }

  int size() {
    return entries.size();
  }
}
