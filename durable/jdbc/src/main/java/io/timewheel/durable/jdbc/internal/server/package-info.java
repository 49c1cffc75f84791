// SPDX-License-Identifier: Apache-2.0

/**
 * The parts in which database servers differ, as interfaces and as statements that all servers
 * understand. The entry is {@link io.timewheel.durable.jdbc.internal.server.ServerParts}, which
 * lists them. Classes of the packages above use only the parts that they need.
 *
 * <p>In the order in which to read them: {@code ServerErrors}, {@code CommitProof}, {@code
 * TransactionSql}, {@code SchemaSql} and {@code Expressions} belong to every transaction. {@code
 * Records} and {@code SharedRows} are written by write batches. {@code Queries}, with {@code
 * TimerPages} for lists, reads. {@code HistorySql} and {@code HistoryParts} purge. {@code
 * UserTransactions} serves transactions of users, and {@code HintTransport} carries hints, where
 * the server can do that.
 */
@NullMarked
package io.timewheel.durable.jdbc.internal.server;

import org.jspecify.annotations.NullMarked;
