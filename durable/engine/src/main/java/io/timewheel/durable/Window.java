// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.Timeout;
import io.timewheel.TimerTask;
import io.timewheel.durable.spi.DuePosition;
import io.timewheel.durable.spi.DueTimer;
import io.timewheel.durable.spi.TimerRecord;
import io.timewheel.durable.spi.TimerStore;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The entries of one shard that are due soon, on the wheel; for as long as one session owns it.
 *
 * <h2>Nothing is slept through</h2>
 *
 * {@code loaded} is a position in the due index: every record at or before it has its entry here,
 * or is being handled. It is moved ahead <em>before</em> the index is read:
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
 * <h2>Size</h2>
 *
 * At most {@code cap} entries are held. When more are offered, those furthest away are dropped and
 * {@code loaded} is moved back to the last one that stayed; loading goes on from there.
 */
final class Window {
  private static final System.Logger LOG = System.getLogger(DurableTimer.class.getName());
  private static final int PAGE = 1_000;

  final int shard;
  final long epoch;
  private final Engine engine;
  private final TimerStore store;
  private final int cap;
  private final long spanMillis;
  private final long aheadMillis;

  /** Taken before the lock of a lane of handlers, never after it. */
  private final ReentrantLock lock = new ReentrantLock();

  private final Map<TimerKey, Entry> entries = new HashMap<>();

  /** How many attempts of each timer are being handled; two, if it was replaced meanwhile. */
  private final Map<TimerKey, Integer> running = new HashMap<>();

  private @Nullable DuePosition loaded;
  private boolean loading;
  private boolean fromStart = true;

  /** Whether something could not be read or put on the wheel: with the next beat it is again. */
  private boolean again;

  private boolean closed;

  Window(Engine engine, TimerStore store, int shard, long epoch, int cap) {
    this.engine = engine;
    this.store = store;
    this.shard = shard;
    this.epoch = epoch;
    this.cap = cap;
    spanMillis = store.traits().window().toMillis();
    aheadMillis = store.traits().claimAhead().toMillis();
  }

  /** A record that is due soon: its own task on the timer. */
  final class Entry implements TimerTask {
    final DueTimer due;
    private @Nullable Timeout timeout;
    private boolean dropped;

    Entry(DueTimer due) {
      this.due = due;
    }

    Window window() {
      return Window.this;
    }

    @Override
    public void run(Timeout fired) {
      lock.lock();
      try {
        if (dropped) {
          return;
        }
        if (millisLeft() > 0) {
          armOrDrop(); // the wall clock is behind the timer's
          return;
        }
      } finally {
        lock.unlock();
      }
      engine.due(this);
    }

    private long millisLeft() {
      return EpochMillis.saturatedSubtract(
          due.fireAt(), EpochMillis.saturatedAdd(engine.nowMillis(), aheadMillis));
    }

    /** Puts the entry on the wheel; if the wheel refuses, the next beat reads it again. */
    private boolean armOrDrop() {
      try {
        timeout = engine.timer().newTimeout(this, millisLeft(), TimeUnit.MILLISECONDS);
        return true;
      } catch (RuntimeException | Error e) {
        if (!again) {
          LOG.log(System.Logger.Level.WARNING, "the wheel refuses entries; read with each beat", e);
        }
        dropped = true;
        entries.remove(due.key());
        again = true;
        return false;
      }
    }

    private void drop() {
      dropped = true;
      if (timeout != null) {
        timeout.cancel();
      }
    }

    /** Whether a record is the one that this entry was made from. */
    boolean isCurrent(TimerRecord record) {
      return record.version() == due.version() && record.revision() == due.revision();
    }

    /** Takes the entry out, for its handling to begin; false if it holds no longer. */
    boolean begin() {
      lock.lock();
      try {
        if (dropped || closed) {
          return false;
        }
        dropped = true;
        entries.remove(due.key());
        running.merge(due.key(), 1, Integer::sum);
        return true;
      } finally {
        lock.unlock();
      }
    }
  }

  /**
   * Ends what {@link Entry#begin} began, with the record as it is then; null if the store refused
   * to take the step, and then the record is left to the next owner or reading.
   */
  void ended(TimerKey key, @Nullable TimerRecord record) {
    lock.lock();
    try {
      running.computeIfPresent(key, (same, count) -> count == 1 ? null : count - 1);
    } finally {
      lock.unlock();
    }
    if (record != null) {
      observe(record);
    }
    loadIfRoom();
  }

  /** Ends what began, when nobody knows how it stands: it is read again with the next beat. */
  void endedUnknown(TimerKey key) {
    lock.lock();
    try {
      running.computeIfPresent(key, (same, count) -> count == 1 ? null : count - 1);
      again = true;
    } finally {
      lock.unlock();
    }
  }

  /** A record as it was left by a commit. */
  void observe(TimerRecord record) {
    if (record.isIndexed()) {
      offer(record.due());
      return;
    }
    lock.lock();
    try {
      Entry old = entries.get(record.key());
      if (old != null && record.due().isNewerThan(old.due)) {
        old.drop();
        entries.remove(record.key());
      }
    } finally {
      lock.unlock();
    }
  }

  /** Returns false if the wheel refuses more. */
  private boolean offer(DueTimer due) {
    Entry entry;
    boolean isDue;
    lock.lock();
    try {
      if (closed || (due.state() == TimerState.FIRING && running.containsKey(due.key()))) {
        return true;
      }
      Entry old = entries.get(due.key());
      if (old != null && !due.isNewerThan(old.due)) {
        return true;
      }
      if (old != null) {
        old.drop();
        entries.remove(due.key());
      }
      if (loaded == null || due.position().compareTo(loaded) > 0) {
        return true;
      }
      entry = new Entry(due);
      entries.put(due.key(), entry);
      isDue = entry.millisLeft() <= 0;
      if (!isDue && !entry.armOrDrop()) {
        return false;
      }
      if (entries.size() > cap) {
        shrink();
      }
    } finally {
      lock.unlock();
    }
    if (isDue) {
      engine.due(entry); // and not a tick later
    }
    return true;
  }

  private void shrink() {
    List<Entry> byTime = new ArrayList<>(entries.values());
    byTime.sort(Comparator.comparing(entry -> entry.due.position()));
    int kept = Math.max(1, cap / 2);
    for (Entry far : byTime.subList(kept, byTime.size())) {
      far.drop();
      entries.remove(far.due.key());
    }
    loaded = byTime.get(kept - 1).due.position();
  }

  // Loading

  /** Reads again what could not be read or held before, and what has come into reach. */
  void beat() {
    lock.lock();
    try {
      fromStart |= again;
      again = false;
    } finally {
      lock.unlock();
    }
    loadIfRoom();
  }

  /** Reads what has come into reach, if that is worth it by now. */
  void loadIfRoom() {
    boolean start;
    lock.lock();
    try {
      boolean reached =
          loaded != null
              && EpochMillis.saturatedSubtract(loaded.fireAt(), engine.nowMillis())
                  > spanMillis / 2;
      start = !closed && !loading && (fromStart || (!reached && entries.size() <= cap / 4));
      loading |= start;
    } finally {
      lock.unlock();
    }
    if (start) {
      engine.executeStoreWork(this::load);
    }
  }

  /** Reads the window again from its beginning, for what may have been missed. */
  void reload() {
    lock.lock();
    try {
      fromStart = true;
    } finally {
      lock.unlock();
    }
    loadIfRoom();
  }

  /** A hint that something was added from elsewhere. */
  void hint(long fireAt) {
    boolean near;
    lock.lock();
    try {
      near = loaded != null && fireAt <= loaded.fireAt();
    } finally {
      lock.unlock();
    }
    if (near) {
      reload();
    }
  }

  /** One page; the next one is a task of its own, so that others get their turn. */
  private void load() {
    DuePosition after;
    long until;
    lock.lock();
    try {
      if (closed) {
        return;
      }
      after = fromStart ? null : loaded;
      fromStart = false;
      until =
          Math.max(
              EpochMillis.saturatedAdd(engine.nowMillis(), spanMillis),
              loaded == null ? Long.MIN_VALUE : loaded.fireAt());
      loaded = endOf(until);
    } finally {
      lock.unlock();
    }
    load(after, until);
  }

  private void load(@Nullable DuePosition from, long until) {
    boolean complete = false;
    try {
      complete = readPages(from, until);
    } catch (RuntimeException | Error e) {
      LOG.log(System.Logger.Level.WARNING, "shard " + shard + " could not be read", e);
    }
    lock.lock();
    try {
      loading = false;
      again |= !complete;
    } finally {
      lock.unlock();
    }
    if (complete) {
      loadIfRoom();
    }
  }

  /** Returns false if the wheel refuses more. */
  private boolean readPages(@Nullable DuePosition from, long until) {
    DuePosition after = from;
    boolean more = true;
    while (more) {
      List<DueTimer> page = store.due(shard, until, after, PAGE);
      for (DueTimer due : page) {
        if (!offer(due)) {
          return false;
        }
      }
      more = page.size() == PAGE;
      if (more) {
        after = page.get(PAGE - 1).position();
        more = isBelowLoaded(after);
      }
    }
    return true;
  }

  private boolean isBelowLoaded(DuePosition position) {
    lock.lock();
    try {
      return !closed && loaded != null && position.compareTo(loaded) < 0;
    } finally {
      lock.unlock();
    }
  }

  /** Behind everything before a time. */
  private static DuePosition endOf(long until) {
    return new DuePosition(until, new TimerKey("", ""));
  }

  // Time and end

  /** Sets every entry to the wall clock again. */
  void rearm() {
    lock.lock();
    try {
      for (Entry entry : entries.values()) {
        if (entry.timeout != null) {
          entry.timeout.reschedule(Math.max(0, entry.millisLeft()), TimeUnit.MILLISECONDS);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** Drops all entries; what runs goes on, and its end is still recorded if the epoch stands. */
  void close() {
    lock.lock();
    try {
      closed = true;
      entries.values().forEach(Entry::drop);
      entries.clear();
    } finally {
      lock.unlock();
    }
  }

  /** Whether the shard is being given away, or has been: what has not begun here, does not. */
  boolean isClosed() {
    lock.lock();
    try {
      return closed;
    } finally {
      lock.unlock();
    }
  }

  int size() {
    lock.lock();
    try {
      return entries.size();
    } finally {
      lock.unlock();
    }
  }

  boolean isQuiet() {
    lock.lock();
    try {
      return running.isEmpty();
    } finally {
      lock.unlock();
    }
  }
}
