// SPDX-License-Identifier: Apache-2.0
package io.timewheel.demo;

import io.timewheel.TimerStats;

/**
 * What the demonstration found out. The counts are its own, taken from what the calls returned and
 * the tasks did; {@code stats} is what the timer says.
 *
 * @param options what was asked for
 * @param started timeouts that were started
 * @param starting how long that took
 * @param memory what the pending timeouts take
 * @param expired tasks that ran
 * @param cancelled timeouts that were cancelled, other than by stopping the timer
 * @param moved timeouts whose deadline was moved
 * @param returned timeouts that were pending when the timer was stopped
 * @param levels the same, by the time they had left
 * @param lags how late the timeouts fired
 * @param firing the wake-ups while timeouts fired
 * @param idle the wake-ups while nothing was due
 * @param timerCpuNanos the processor time of the timer thread; negative if unknown
 * @param stats what the timer says, after it was stopped
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
   * @param collectionNanos the part of it in which garbage was collected
   */
  record Starting(long nanos, long collectionNanos) {}

  /**
   * The growth of the heap that some timeouts caused.
   *
   * @param bytes by how much the used heap grew
   * @param timeouts how many timeouts it then held
   */
  record Memory(long bytes, long timeouts) {
    private static final int FEWEST = 100_000;

    /** Whether the timeouts outweigh whatever else the program allocated meanwhile. */
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
   * @param count how often
   * @param nanos in how much time
   */
  record WakeUps(long count, long nanos) {
    double perSecond() {
      return count * 1e9 / Math.max(1, nanos);
    }
  }

  boolean isBalanced() {
    return started == expired + cancelled + returned;
  }

  /** Whether the timer counts as we do. */
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
