// SPDX-License-Identifier: Apache-2.0
package io.timewheel.concurrent;

/**
 * A run that is already due, handed from the previous run to the workers. If the workers call it
 * inside {@code execute}, it is left to the caller, which is still in the previous run. Otherwise a
 * task that missed a million runs would overflow the stack.
 *
 * <p>All fields belong to the caller. Other threads only run the task.
 */
final class MissedRun implements Runnable {
  private final ScheduledTask<?> task;
  private final Thread caller = Thread.currentThread();
  private boolean handedOver;
  private boolean leftToCaller;

  MissedRun(ScheduledTask<?> task) {
    this.task = task;
  }

  @Override
  public void run() {
    if (Thread.currentThread() == caller && !handedOver) {
      leftToCaller = true;
    } else {
      task.work();
    }
  }

  /** Ends the hand-over, and returns whether the run is left to the caller. */
  boolean isLeftToCaller() {
    handedOver = true;
    return leftToCaller;
  }
}
