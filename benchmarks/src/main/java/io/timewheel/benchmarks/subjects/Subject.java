// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.subjects;

/**
 * A timer under measurement: as thin a layer as can be, equally thin for all. A JVM loads one
 * implementation only, so that the calls through this interface are inlined.
 *
 * <p>Nothing is allocated here for an operation, except what the timer's own interface requires.
 * Every implementation takes a delay that counts from the call, as the timers themselves do; a
 * timer that counts coarser units gets the next greater whole number of them.
 */
public interface Subject extends AutoCloseable {
  /**
   * Wraps what is to be run in the timer's own kind of task. Not part of any measurement.
   *
   * @param body what to run
   * @return what {@link #start} takes, any number of times
   */
  Object task(Runnable body);

  /**
   * Starts a timeout.
   *
   * @param task made by {@link #task}
   * @param delayNanos from now
   * @return what {@link #cancel} and {@link #move} take
   */
  Object start(Object task, long delayNanos);

  /**
   * Cancels a timeout.
   *
   * @param handle that {@link #start} returned
   * @return whether it will never run now
   */
  boolean cancel(Object handle);

  /**
   * Moves a deadline; where the timer cannot do that, as its users do: they cancel and start again.
   *
   * @param handle that {@link #start} returned
   * @param task of that timeout
   * @param delayNanos from now
   * @return the handle from now on
   */
  default Object move(Object handle, Object task, long delayNanos) {
    cancel(handle);
    return start(task, delayNanos);
  }

  /**
   * Runs what is due, if the timer has no thread that does: see {@link SubjectKind#isPolled}.
   *
   * @return for how long there will be nothing to do
   */
  default long poll() {
    throw new UnsupportedOperationException("has a thread of its own");
  }

  /** {@return how often the timer thread has woken up, or -1 if the timer does not tell} */
  default long wakeups() {
    return -1;
  }

  @Override
  void close();
}
