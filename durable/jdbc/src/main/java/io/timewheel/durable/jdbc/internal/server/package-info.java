// SPDX-License-Identifier: Apache-2.0

/**
 * The parts in which database servers differ: interfaces, and statements that all servers accept.
 * The entry is {@link io.timewheel.durable.jdbc.internal.server.ServerParts}, which lists them.
 * Classes of the packages above use only the parts that they need.
 *
 * <p>In reading order: {@code ServerErrors}, {@code CommitProof}, {@code TransactionSql}, {@code
 * SchemaSql} and {@code Expressions} are part of every transaction. Write batches use {@code
 * Records} and {@code SharedRows}. {@code Queries} reads, with {@code TimerPages} for lists. {@code
 * HistorySql} and {@code HistoryParts} purge. {@code UserTransactions} serves transactions of
 * users, and {@code NotificationTransport} sends and receives notifications, if the server has
 * notifications.
 */
@NullMarked
package io.timewheel.durable.jdbc.internal.server;

import org.jspecify.annotations.NullMarked;
