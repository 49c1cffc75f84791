// SPDX-License-Identifier: Apache-2.0
package io.timewheel.demo;

import io.timewheel.TimerStats;

/**
 * The results of the demonstration. The demonstration itself counts the results of its calls and
 * the runs of its tasks; {@code stats} are the timer's own counts.
 *
 * @param options the options of the run
 * @param started timeouts that were started
 * @param starting the time that the start took
 * @param memory the memory of the pending timeouts
 * @param expired tasks that ran
 * @param cancelled timeouts that were cancelled, except by stopping the timer
 * @param moved timeouts whose deadline was moved
 * @param returned timeouts that were pending when the timer was stopped
 * @param levels the same, by their remaining time
 * @param lags how late the timeouts fired
 * @param firing the wake-ups while timeouts fired
 * @param idle the wake-ups while nothing was due
 * @param timerCpuNanos the CPU time of the timer thread; negative if unknown
 * @param stats the timer's statistics after it was stopped
 */
record Figures(
    Options options,
    long started,
    Starting starting,
    Memory memory,
    long expired,
    long cancelled,
    long moved,
    long returned,
    Levels levels,
    Lags lags,
    WakeUps firing,
    WakeUps idle,
    long timerCpuNanos,
    TimerStats stats) {

  /**
   * How long it took to start the timeouts.
   *
   * @param nanos from the first start to the last
   * @param collectionNanos the part spent on garbage collection
   */
  record Starting(long nanos, long collectionNanos) {}

  /**
   * The growth of the heap caused by timeouts.
   *
   * @param bytes the growth of the used heap
   * @param timeouts the number of timeouts
   */
  record Memory(long bytes, long timeouts) {
    private static final int FEWEST = 100_000;

    /** Returns whether the memory of the timeouts exceeds all other allocations of the program. */
    boolean isMeaningful() {
      return timeouts >= FEWEST;
    }

    double bytesPerTimeout() {
      return (double) bytes / timeouts;
    }
  }

  /**
   * How often the timer thread woke up.
   *
   * @param count the number of wake-ups
   * @param nanos the measured time
   */
  record WakeUps(long count, long nanos) {
    double perSecond() {
      return count * 1e9 / Math.max(1, nanos);
    }
  }

  boolean isBalanced() {
    return started == expired + cancelled + returned;
  }

  /** Returns whether the timer's counts agree with those of the demonstration. */
  boolean statsAgree() {
    return stats.started() == started
        && stats.expired() == expired
        && stats.cancelled() == cancelled + returned
        && stats.rescheduled() == moved
        && stats.pending() == 0
        && stats.failed() == 0;
  }

  boolean areSound() {
    return isBalanced() && statsAgree() && lags.early() == 0;
  }
}
