// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

import io.timewheel.durable.spi.DueTimer;

/** Receives the entries of windows when they are due. */
public interface DueSink {
  /** Receives a due entry. Called by the thread of the wheel, so it never blocks. */
  void due(DueEntry entry);

  /** Returns whether a timer is claimed ahead of its time. */
  boolean isClaimedAhead(DueTimer due);

  /** Returns the handler whose share of a window an entry uses; empty for the common share. */
  String shareOf(DueTimer due);

  /** Returns the number of shares into which the room for overdue timers is divided. */
  int shares();

  /** Notes that a shard is closed. Its attempts that have not begun will not begin here. */
  void left(Shard shard);
}
