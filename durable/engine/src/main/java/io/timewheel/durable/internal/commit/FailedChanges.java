// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.commit;

import io.timewheel.durable.spi.StoreException;
import java.util.List;

/**
 * Changes that failed together and wait for another try. Not a record, because two instances are
 * never equal.
 */
final class FailedChanges {
  private static final long FIRST_WAIT_MILLIS = 50;
  private static final long LONGEST_WAIT_MILLIS = 5_000;

  final List<PendingChange> changes;

  final StoreException failure;

  FailedChanges(List<PendingChange> changes, StoreException failure) {
    this.changes = changes;
    this.failure = failure;
  }

  /** Returns whether they may have caused the failure. They are then committed alone. */
  boolean isSuspect() {
    return failure.kind() == StoreException.Kind.UNKNOWN;
  }

  /** Returns how many of them belong to callers. */
  int callers() {
    return (int) changes.stream().filter(change -> !change.isOwn()).count();
  }

  long waitMillis() {
    int tries = changes.stream().mapToInt(PendingChange::tries).max().orElse(1);
    return Math.min(LONGEST_WAIT_MILLIS, FIRST_WAIT_MILLIS << Math.max(0, Math.min(tries - 1, 20)));
  }
}
