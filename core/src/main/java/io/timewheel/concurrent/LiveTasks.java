// SPDX-License-Identifier: Apache-2.0
package io.timewheel.concurrent;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The tasks of an executor that wait or run, and the state of its shutdown.
 *
 * <p>A submission adds its task before it reads the state, and a shutdown changes the state before
 * it reads the tasks. So if the two race, at least one sees the other. {@link ScheduledTask#leave}
 * decides which of them takes the task. A worker that may not run a waiting task ignores it,
 * because the shutdown will take it.
 */
final class LiveTasks {
  private static final int OPEN = 0;
  private static final int SHUT_DOWN = 1;
  private static final int STOPPED = 2;
  private static final int TERMINATED = 3;

  private final Set<ScheduledTask<?>> tasks = ConcurrentHashMap.newKeySet();
  private final AtomicInteger state = new AtomicInteger(OPEN);
  private final CountDownLatch terminated = new CountDownLatch(1);
  private final boolean keepsPeriodic;
  private final boolean keepsDelayed;
  private final Runnable atTheEnd;

  /**
   * Creates an empty set.
   *
   * @param keepsPeriodic whether periodic tasks continue after a shutdown
   * @param keepsDelayed whether other tasks that are not due yet run after a shutdown
   * @param atTheEnd called once, before the executor counts as terminated
   */
  LiveTasks(boolean keepsPeriodic, boolean keepsDelayed, Runnable atTheEnd) {
    this.keepsPeriodic = keepsPeriodic;
    this.keepsDelayed = keepsDelayed;
    this.atTheEnd = atTheEnd;
  }

  /** Adds a new task, and returns whether it was accepted. */
  boolean add(ScheduledTask<?> task) {
    tasks.add(task);
    if (isShutdown() && task.leave()) {
      remove(task);
      return false;
    }
    return true;
  }

  /** Removes a task that is no longer live. */
  void remove(ScheduledTask<?> task) {
    tasks.remove(task);
    terminateIfEmpty();
  }

  /** Returns whether an accepted task may run in the current state of the shutdown. */
  boolean mayRun(ScheduledTask<?> task) {
    return switch (state.get()) {
      case OPEN -> true;
      case SHUT_DOWN -> isKept(task);
      default -> false;
    };
  }

  private boolean isKept(ScheduledTask<?> task) {
    return task.isPeriodic()
        ? keepsPeriodic
        : keepsDelayed || task.getDelay(TimeUnit.NANOSECONDS) <= 0;
  }

  void shutdown() {
    advanceTo(SHUT_DOWN);
    for (ScheduledTask<?> task : tasks) {
      if (!isKept(task)) {
        task.cancelIfWaiting();
      }
    }
    terminateIfEmpty();
  }

  /** Removes waiting tasks, and interrupts running ones. */
  List<Runnable> shutdownNow() {
    advanceTo(STOPPED);
    List<Runnable> neverBegun = new ArrayList<>();
    for (ScheduledTask<?> task : tasks) {
      if (task.leave()) {
        remove(task);
        neverBegun.add(task);
      } else {
        task.interrupt();
      }
    }
    terminateIfEmpty();
    return neverBegun;
  }

  /** Fails the tasks that wait for the timer, which will not fire again. */
  void failOnTimer(Throwable cause) {
    for (ScheduledTask<?> task : tasks) {
      task.failIfOnTimer(cause);
    }
  }

  private void advanceTo(int newState) {
    state.accumulateAndGet(newState, Math::max);
  }

  /**
   * Terminates if no task is left. The size of the set is not exact while other threads add and
   * remove tasks: it can miss a task that an iteration would find. But the thread that removes the
   * last task reads zero.
   */
  private void terminateIfEmpty() {
    if (isShutdown()
        && tasks.isEmpty()
        && !tasks.iterator().hasNext()
        && state.getAndSet(TERMINATED) != TERMINATED) {
      try {
        atTheEnd.run();
      } finally {
        terminated.countDown();
      }
    }
  }

  boolean isShutdown() {
    return state.get() != OPEN;
  }

  boolean isTerminated() {
    return terminated.getCount() == 0;
  }

  boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
    return terminated.await(timeout, unit);
  }

  @Override
  public String toString() {
    String end = isTerminated() ? "terminated" : isShutdown() ? "shut down" : "open";
    return end + ", live tasks: " + tasks.size();
  }
}
