// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.subjects;

import java.util.concurrent.ConcurrentHashMap;

/**
 * The code that a user writes without a pattern: a map from the keys to the timeouts. As with the
 * patterns, each key has its own task with a reference to the key, which would remove the key from
 * the map.
 */
final class HandMade implements Keyed.Touched {
  private record Entry(Object handle, Object task) {}

  private final ConcurrentHashMap<Long, Entry> entries = new ConcurrentHashMap<>();
  private final Subject timer;
  private final long delayNanos;

  HandMade(Subject timer, long delayNanos) {
    this.timer = timer;
    this.delayNanos = delayNanos;
  }

  @Override
  public void add(Long key) {
    Object task = timer.task(() -> entries.remove(key));
    entries.put(key, new Entry(timer.start(task, delayNanos), task));
  }

  @Override
  public void touch(Long key) {
    entries.computeIfPresent(
        key,
        (same, entry) -> {
          Object handle = timer.move(entry.handle, entry.task, delayNanos);
          return handle == entry.handle ? entry : new Entry(handle, entry.task);
        });
  }

  @Override
  public void remove(Long key) {
    Entry entry = entries.remove(key);
    if (entry != null) {
      timer.cancel(entry.handle);
    }
  }
}
