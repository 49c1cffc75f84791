// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

/** Receives the entries of windows when they are due. */
public interface DueSink {
  /** Receives a due entry. Called by the thread of the wheel, so it never blocks. */
  void due(DueEntry entry);

  /** Notes that a shard is closed. Its attempts that have not begun will not begin here. */
  void left(Shard shard);
}
