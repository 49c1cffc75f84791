// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.subjects;

import org.jspecify.annotations.Nullable;

/** The minimum work of any timer: a clock reading, and a handle of 40 bytes. It runs nothing. */
final class FloorSubject implements Subject {
  @Override
  public Object task(Runnable body) {
    return body;
  }

  @Override
  public Object start(Object task, long delayNanos) {
    return new Handle(task, System.nanoTime() + delayNanos);
  }

  @Override
  public boolean cancel(Object handle) {
    Handle timeout = (Handle) handle;
    boolean pending = timeout.task != null;
    timeout.task = null;
    return pending;
  }

  @Override
  public Object move(Object handle, Object task, long delayNanos) {
    ((Handle) handle).deadlineNanos = System.nanoTime() + delayNanos;
    return handle;
  }

  @Override
  public void close() {}

  /** 12 bytes of header, 8 of deadline, 4 of task, and the rest of a handle of 40 bytes. */
  @SuppressWarnings("UnusedVariable") // present only for their size
  private static final class Handle {
    private @Nullable Object task;
    private long deadlineNanos;
    private long filler1;
    private long filler2;

    Handle(Object task, long deadlineNanos) {
      this.task = task;
      this.deadlineNanos = deadlineNanos;
    }
  }
}
