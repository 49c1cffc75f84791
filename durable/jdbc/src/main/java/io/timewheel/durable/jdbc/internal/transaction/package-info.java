// SPDX-License-Identifier: Apache-2.0

/**
 * Transactions on connections of the user's pool. The entry is {@link
 * io.timewheel.durable.jdbc.internal.transaction.Transactions}. It begins transactions, and repeats
 * them if that is safe. It looks up the outcome of a commit whose answer was lost, with the {@code
 * CommitProof} of the server. {@code Counters} counts operations for the figures of the store.
 */
@NullMarked
package io.timewheel.durable.jdbc.internal.transaction;

import org.jspecify.annotations.NullMarked;
