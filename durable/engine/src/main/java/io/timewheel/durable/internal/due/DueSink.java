// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

import io.timewheel.durable.spi.DueTimer;

/** Takes the entries of windows when their time has come. */
public interface DueSink {
  /** Takes an entry that is due. Called by the timer's thread, so it never blocks. */
  void due(DueEntry entry);

  /** Whether a timer is claimed ahead of its time. */
  boolean isClaimedAhead(DueTimer due);

  /** The handler whose share of a window an entry takes; empty for those that share one. */
  String shareOf(DueTimer due);

  /** Into how many shares the room for overdue timers is divided. */
  int shares();

  /** A shard is closed: the attempts of it that have not begun do not begin here. */
  void left(Shard shard);
}
