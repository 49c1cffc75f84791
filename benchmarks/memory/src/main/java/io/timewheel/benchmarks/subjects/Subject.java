// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.subjects;

/**
 * A measured timer. The layer is as thin as possible, and equally thin for all. A JVM loads only
 * one implementation, so calls through this interface are inlined.
 *
 * <p>An operation allocates nothing here, except objects that the timer's own interface requires.
 * Every implementation takes a delay that counts from the call, like the timers themselves. A timer
 * with coarser units gets the delay rounded up.
 */
public interface Subject extends AutoCloseable {
  /**
   * Wraps an action in the timer's own kind of task. Not part of any measurement.
   *
   * @param body the action
   * @return an argument for {@link #start}, usable any number of times
   */
  Object task(Runnable body);

  /**
   * Starts a timeout.
   *
   * @param task made by {@link #task}
   * @param delayNanos the delay from now
   * @return the argument for {@link #cancel} and {@link #move}
   */
  Object start(Object task, long delayNanos);

  /**
   * Cancels a timeout.
   *
   * @param handle the result of {@link #start}
   * @return whether it will never run
   */
  boolean cancel(Object handle);

  /**
   * Moves a deadline. If the timer cannot do that, cancels and starts again, as its users do.
   *
   * @param handle the result of {@link #start}
   * @param task of that timeout
   * @param delayNanos the delay from now
   * @return the new handle
   */
  default Object move(Object handle, Object task, long delayNanos) {
    cancel(handle);
    return start(task, delayNanos);
  }

  /**
   * Runs due tasks, if the timer has no thread for that: see {@link SubjectKind#isPolled}.
   *
   * @return for how long there will be nothing to do, in nanoseconds
   */
  default long poll() {
    throw new UnsupportedOperationException("has a thread of its own");
  }

  /** {@return how often the timer thread has woken up, or -1 if the timer does not report it} */
  default long wakeups() {
    return -1;
  }

  @Override
  void close();
}
