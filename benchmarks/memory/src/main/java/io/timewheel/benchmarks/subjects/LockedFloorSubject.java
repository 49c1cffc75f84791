// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.subjects;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The minimum work of a timer that any thread may use: the work of {@link FloorSubject}, and a lock
 * around each call. It runs nothing.
 */
final class LockedFloorSubject implements Subject {
  private final FloorSubject floor = new FloorSubject();
  private final AtomicBoolean locked = new AtomicBoolean();

  @Override
  public Object task(Runnable body) {
    return floor.task(body);
  }

  @Override
  public Object start(Object task, long delayNanos) {
    Object handle = floor.start(task, delayNanos);
    lock();
    locked.setRelease(false);
    return handle;
  }

  @Override
  public boolean cancel(Object handle) {
    lock();
    boolean pending = floor.cancel(handle);
    locked.setRelease(false);
    return pending;
  }

  @Override
  public Object move(Object handle, Object task, long delayNanos) {
    lock();
    Object moved = floor.move(handle, task, delayNanos);
    locked.setRelease(false);
    return moved;
  }

  private void lock() {
    while (!locked.compareAndSet(false, true)) {
      Thread.onSpinWait();
    }
  }

  @Override
  public void close() {}
}
