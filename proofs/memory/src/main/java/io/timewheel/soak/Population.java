// SPDX-License-Identifier: Apache-2.0
package io.timewheel.soak;

import io.timewheel.Timeout;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;

/**
 * The long-lived timers and their timeouts, one in every place. A place belongs permanently to one
 * timer. Its next timeout starts only after the outcome of the previous one was checked. So at any
 * time the places account for every timeout.
 *
 * <p>The first places of every timer are chains: their tasks themselves start the next timeout. The
 * others belong to producers.
 *
 * <p>A thread that starts, moves or cancels holds the read lock of the gate. While a thread holds
 * the write lock, timeouts only expire.
 */
final class Population {
  /** The number of chains of every timer. */
  static final int CHAINS = 64;

  private static final long CHAIN_MAX_MICROS = 20_000;

  final ReentrantReadWriteLock gate = new ReentrantReadWriteLock(true);
  final List<Subject> subjects;
  private final Violations violations;
  private final AtomicReferenceArray<@Nullable Timeout> places;

  Population(List<Subject> subjects, int size, Violations violations) {
    this.subjects = subjects;
    this.violations = violations;
    this.places = new AtomicReferenceArray<>(size);
  }

  int size() {
    return places.length();
  }

  int firstForProducers() {
    return CHAINS * subjects.size();
  }

  int subjectOf(int place) {
    return place % subjects.size();
  }

  @Nullable Timeout at(int place) {
    return places.getAcquire(place);
  }

  /** Starts a timeout in a place of a producer. The timer may refuse it; then nothing changes. */
  void start(int place, Delay delay, Manner manner) {
    Subject subject = subjects.get(subjectOf(place));
    try {
      SoakTask task = new SoakTask(subject, manner);
      places.setRelease(place, task.start(delay.amount(), delay.unit()));
    } catch (RejectedExecutionException e) {
      subject.refused.increment();
    }
  }

  /** Starts the chains that are not running. Running chains start themselves again. */
  void startChains() {
    for (int place = 0; place < firstForProducers(); place++) {
      Timeout timeout = at(place);
      if (timeout == null || ((SoakTask) timeout.task()).isSettled()) {
        startChain(place);
      }
    }
  }

  private void startChain(int place) {
    // The delay depends only on the clock. Any distribution is sufficient, and tasks have no random
    // generator.
    long micros = System.nanoTime() % CHAIN_MAX_MICROS;
    Subject subject = subjects.get(subjectOf(place));
    Chain chain = new Chain(subject, place);
    try {
      // Otherwise, it could run and store its successor before it is stored itself.
      synchronized (chain) {
        places.setRelease(place, chain.start(micros, TimeUnit.MICROSECONDS));
      }
    } catch (RejectedExecutionException e) {
      subject.refused.increment(); // the chain stops until startChains is called again
    }
  }

  /** A task that starts its successor, on the thread that runs it. */
  private final class Chain extends SoakTask {
    private final int place;

    Chain(Subject subject, int place) {
      super(subject, Manner.PLAIN);
      this.place = place;
    }

    @Override
    public void run(Timeout timeout) throws Exception {
      super.run(timeout);
      synchronized (this) {
        // Waits until startChain has stored this timeout.
      }
      if (gate.readLock().tryLock()) {
        try {
          startChain(place);
        } finally {
          gate.readLock().unlock();
        }
      }
    }
  }

  /** The result of a check of all places, by timer. */
  static final class Census {
    final long[] pending;

    /** Pending timeouts that are overdue by more than the requested time. */
    final long[] overdue;

    /**
     * Timeouts that are neither pending nor complete: their task was handed to an executor that has
     * not run it yet.
     */
    final long[] underWay;

    /** Places that hold a timeout. */
    long taken;

    Census(int subjects) {
      pending = new long[subjects];
      overdue = new long[subjects];
      underWay = new long[subjects];
    }
  }

  Census census(long overdueNanos) {
    Census census = new Census(subjects.size());
    for (int place = 0; place < size(); place++) {
      Timeout timeout = at(place);
      if (timeout == null) {
        continue;
      }
      census.taken++;
      SoakTask task = (SoakTask) timeout.task();
      int subject = subjectOf(place);
      if (!timeout.isExpired() && !timeout.isCancelled()) {
        census.pending[subject]++;
        if (task.overdueNanos() > overdueNanos) {
          census.overdue[subject]++;
        }
      } else if (!task.isSettled()) {
        census.underWay[subject]++;
      }
    }
    return census;
  }

  /** Moves all timeouts that would expire soon to a distant time. */
  void postpone(long soonMinutes) {
    for (int place = 0; place < size(); place++) {
      Timeout timeout = at(place);
      if (timeout != null && timeout.remaining(TimeUnit.MINUTES) < soonMinutes) {
        ((SoakTask) timeout.task()).move(timeout, 1, TimeUnit.DAYS);
      }
    }
  }

  /** Checks all places after the end. */
  void checkFates() {
    for (int place = 0; place < size(); place++) {
      Timeout timeout = at(place);
      if (timeout != null) {
        SoakTask task = (SoakTask) timeout.task();
        violations.check(
            task.isSettled(), task.subject.name + ": a timeout is lost, it " + task.fate());
        task.retire(timeout);
      }
    }
  }
}
