// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.queue;

import io.timewheel.durable.internal.attempt.AttemptContext;
import io.timewheel.durable.internal.attempt.AttemptEnd;
import io.timewheel.durable.internal.attempt.OpenClaim;
import io.timewheel.durable.internal.commit.StoreTasks;
import io.timewheel.durable.internal.due.DueEntry;
import io.timewheel.durable.spi.record.Claim;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerRecord;
import org.jspecify.annotations.Nullable;

/**
 * Ends the expired claim leases of consumers; their attempts are lost. Expired claim leases of
 * handlers end when their timer is claimed or made ready again.
 */
final class ExpiredClaimLeases {
  private final AttemptContext context;
  private final StoreTasks tasks;
  private final Runnable onEnded;

  /**
   * @param onEnded called once for each entry, at its end
   */
  ExpiredClaimLeases(AttemptContext context, StoreTasks tasks, Runnable onEnded) {
    this.context = context;
    this.tasks = tasks;
    this.onEnded = onEnded;
  }

  /** Ends the claim lease of an entry, whose time is the expiry of the lease. */
  void end(DueEntry entry) {
    if (!tasks.read(() -> readAndEnd(entry))) { // closed
      ended(() -> entry.shard().endedUnknown(entry.due.key()));
    }
  }

  private void readAndEnd(DueEntry entry) {
    TimerRecord record;
    try {
      record = context.store().get(entry.due.key());
    } catch (RuntimeException | Error e) {
      context.health().reading.failed("a reading of " + entry.due.key(), e);
      ended(() -> entry.shard().endedUnknown(entry.due.key()));
      return;
    }
    Claim claim = record == null ? null : record.claim();
    if (record == null || claim == null || !entry.isCurrent(record)) {
      ended(() -> entry.shard().ended(entry.due.key(), record));
      return;
    }
    OpenClaim open = OpenClaim.expired(record, claim, entry.shard().epoch);
    AttemptEnd lost = context.rule().lost(open, "the claim lease expired");
    context.committer().submitOwn(lost.change(), outcome -> recorded(entry, lost, outcome));
  }

  private void recorded(DueEntry entry, AttemptEnd lost, @Nullable Outcome outcome) {
    ended(
        () -> {
          if (outcome != null) {
            context.ends().recorded(lost, outcome);
          }
          entry.shard().answered(entry.due.key(), outcome);
        });
  }

  private void ended(Runnable answer) {
    try {
      answer.run();
    } finally {
      onEnded.run();
    }
  }
}
