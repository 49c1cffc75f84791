// SPDX-License-Identifier: Apache-2.0

/**
 * Transactions that contain work of users. The entries are {@link
 * io.timewheel.durable.jdbc.internal.handler.HandlerTransactions}, for handlers whose transaction
 * records their success, and {@link io.timewheel.durable.jdbc.internal.handler.TransactionStore},
 * for timers that a user schedules in a transaction.
 *
 * <p>{@code SingleHandler} handles each attempt in its own transaction, and {@code BatchingHandler}
 * many attempts in one. {@code UserTransactionHandler} leaves its beginning and end to a {@code
 * HandlerRunner}, and looks up the outcome of a commit whose answer was lost. An {@code
 * AttemptHandler} handles each {@code HandlerAttempt}, on a {@code HandlerConnection}. {@code
 * StoreTables} checks that a connection leads to the tables of the store.
 */
@NullMarked
package io.timewheel.durable.jdbc.internal.handler;

import org.jspecify.annotations.NullMarked;
