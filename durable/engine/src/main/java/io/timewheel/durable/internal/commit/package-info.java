// SPDX-License-Identifier: Apache-2.0

/**
 * Changes on their way to the store. The entry is {@link
 * io.timewheel.durable.internal.commit.Committer}, with a {@code CommitLane} for each executor.
 * Read on with {@code PendingChange} (a change and its tries), {@code ChangeQueue} (the next
 * batch), {@code HeldChanges} (timers that another transaction holds) and {@code FailedChanges}. A
 * store that shares a database asks for a lost answer itself ({@code CommitProof}); a lane repeats
 * changes whose outcome stays unknown. {@code StoreTasks} runs other work on the store, and {@code
 * Delays} runs work after a while.
 */
@NullMarked
package io.timewheel.durable.internal.commit;

import org.jspecify.annotations.NullMarked;
