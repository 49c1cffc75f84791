// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.subjects;

/** Not a timer: it starts nothing, has no thread, and runs nothing. */
final class EmptySubject implements Subject {
  @Override
  public Object task(Runnable body) {
    return body;
  }

  @Override
  public Object start(Object task, long delayNanos) {
    return task;
  }

  @Override
  public boolean cancel(Object handle) {
    return true;
  }

  @Override
  public void close() {}
}
