// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.server;

import io.timewheel.durable.jdbc.internal.rows.Formats;
import org.jspecify.annotations.Nullable;

/**
 * Contains the parts in which database servers differ, for one server.
 *
 * @param formats the formats of the tables that this release knows
 * @param errors classifies errors
 * @param commits looks up the outcome of commits whose answer was lost
 * @param transactions begins and ends transactions
 * @param schema creates and changes tables
 * @param expressions parts of statements
 * @param shared reads and writes pauses, epochs and counters
 * @param records reads and writes the records of a write batch
 * @param directInserts inserts timers in one round trip
 * @param queries reads timers, pauses scopes, and claims ready timers
 * @param history reads and purges the history
 * @param requests reads, writes and purges the answers of requests
 * @param userTransactions works in transactions that users begin
 * @param notifications sends and receives notifications; null if the database has no notifications
 */
public record ServerParts(
    Formats formats,
    ServerErrors errors,
    CommitProof commits,
    TransactionSql transactions,
    SchemaSql schema,
    Expressions expressions,
    SharedRows shared,
    Records records,
    DirectInserts directInserts,
    Queries queries,
    HistorySql history,
    RequestRows requests,
    UserTransactions userTransactions,
    @Nullable NotificationTransport notifications) {}
