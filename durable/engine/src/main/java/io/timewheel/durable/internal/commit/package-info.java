// SPDX-License-Identifier: Apache-2.0

/**
 * Commits changes to the store. The entry is {@link
 * io.timewheel.durable.internal.commit.Committer}, with a {@code CommitLane} for each executor.
 * Read {@code PendingChange} (a change and its tries), {@code ChangeQueue} (the next batch), {@code
 * HeldChanges} (timers that another transaction has locked) and {@code FailedChanges} next. The
 * store of a shared database finds out the outcome of a lost answer itself ({@code CommitProof}). A
 * lane repeats changes whose outcome stays unknown. {@code StoreTasks} runs other work on the
 * store, and {@code Delays} runs delayed work.
 */
@NullMarked
package io.timewheel.durable.internal.commit;

import org.jspecify.annotations.NullMarked;
