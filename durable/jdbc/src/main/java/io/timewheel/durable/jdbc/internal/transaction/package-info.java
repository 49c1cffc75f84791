// SPDX-License-Identifier: Apache-2.0

/**
 * Transactions on connections of the user's pool. The entry is {@link
 * io.timewheel.durable.jdbc.internal.transaction.Transactions}, which begins transactions, repeats
 * them where that is safe, and asks for the lost answer of a commit, with the {@code CommitProof}
 * of the server. {@code Counters} counts for the figures of the store.
 */
@NullMarked
package io.timewheel.durable.jdbc.internal.transaction;

import org.jspecify.annotations.NullMarked;
