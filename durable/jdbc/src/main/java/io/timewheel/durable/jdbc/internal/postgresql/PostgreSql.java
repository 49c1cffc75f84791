// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.postgresql;

import io.timewheel.durable.jdbc.internal.rows.Formats;
import io.timewheel.durable.jdbc.internal.server.ServerParts;

/** Creates the parts for PostgreSQL, 14 or newer. Rows are sent as arrays, one for each column. */
public final class PostgreSql {
  private PostgreSql() {}

  /** {@return the parts of a server, for the known formats of the tables} */
  public static ServerParts parts(Formats formats) {
    PostgreSqlCommitProof commits = new PostgreSqlCommitProof();
    PostgreSqlTransactions transactions = new PostgreSqlTransactions(formats);
    return new ServerParts(
        formats,
        new PostgreSqlErrors(),
        commits,
        transactions,
        new PostgreSqlSchema(commits),
        PostgreSqlExpressions.ALL,
        new PostgreSqlSharedRows(),
        new PostgreSqlRecords(commits),
        new PostgreSqlDirectInserts(formats),
        new PostgreSqlQueries(),
        new PostgreSqlHistory(),
        new PostgreSqlRequestRows(),
        new PostgreSqlUserTransactions(transactions),
        new PostgreSqlNotifications());
  }
}
