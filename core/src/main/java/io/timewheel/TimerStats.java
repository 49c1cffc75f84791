// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

/**
 * The statistics of a timer since it was made. {@code started = expired + cancelled + pending}
 * always holds. While other threads use the timer, each timeout is counted as of some moment of the
 * call.
 *
 * @param pending timeouts that are neither expired nor cancelled
 * @param started timeouts that were started, counted again each time their own task re-armed them
 * @param rescheduled deadlines that were moved
 * @param expired timeouts whose task was run or handed to the executor
 * @param cancelled timeouts that were cancelled, including those cancelled by {@link Timer#stop()}
 * @param failed calls of a task that threw
 * @param rejected tasks that the executor rejected
 * @param wakeups how often the timer thread woke up; 0 for a timer without a thread
 * @param maxLagNanos the longest time from a deadline until its task was run or handed to the
 *     executor, in nanoseconds, including the wait for the tick
 */
public record TimerStats(
    long pending,
    long started,
    long rescheduled,
    long expired,
    long cancelled,
    long failed,
    long rejected,
    long wakeups,
    long maxLagNanos) {}
