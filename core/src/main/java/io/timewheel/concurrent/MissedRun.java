// SPDX-License-Identifier: Apache-2.0
package io.timewheel.concurrent;

/**
 * A run that is already due when the previous run ends and hands it to the workers. If the workers
 * run it inside {@code execute}, it only sets a flag, and the calling thread runs it after {@code
 * execute} returns. Without this, a task that missed a million runs would overflow the stack.
 *
 * <p>Only the thread that made this object uses the flags. Other threads only run the task.
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
