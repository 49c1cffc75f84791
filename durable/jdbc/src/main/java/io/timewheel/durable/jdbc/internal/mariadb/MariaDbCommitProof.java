// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.mariadb;

import io.timewheel.durable.jdbc.internal.server.CommitProof;
import io.timewheel.durable.jdbc.internal.sql.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Proves commits by rows. MariaDB cannot be queried about the outcome of a transaction. So each
 * transaction inserts a row, which exists if the transaction was committed, and is locked while it
 * is in progress.
 */
final class MariaDbCommitProof implements CommitProof {
  /** How long the outcome of a commit is retained, in milliseconds. */
  static final long COMMITS_MILLIS = 120_000;

  private final MariaDbErrors errors;

  MariaDbCommitProof(MariaDbErrors errors) {
    this.errors = errors;
  }

  /** Inserts the row if the transaction has read or written anything. */
  @Override
  public @Nullable String transactionId(Connection connection) throws SQLException {
    if (Sql.number(connection, "SELECT @@in_transaction") == 0) {
      return null;
    }
    return Sql.text(connection, insert());
  }

  private static String insert() {
    return "INSERT INTO timewheel_commit (made_at, id) VALUES ("
        + MariaDbExpressions.NOW
        + ", "
        + ThreadLocalRandom.current().nextLong()
        + ") RETURNING concat(made_at, '/', id)";
  }

  @Override
  public @Nullable Boolean isCommitted(Connection connection, String transactionId)
      throws SQLException {
    String[] parts = transactionId.split("/", 2);
    String look =
        "SELECT count(*) FROM timewheel_commit WHERE made_at = "
            + parts[0]
            + " AND id = "
            + parts[1]
            + " LOCK IN SHARE MODE NOWAIT";
    try {
      if (Sql.number(connection, look) == 1) {
        return true;
      }
    } catch (SQLException e) {
      if (errors.isHeldUp(e)) {
        return null;
      }
      throw e;
    }
    // After that time the row may have been purged. A standby may still receive it.
    String isRecent =
        "SELECT @@read_only IN ('0', 'OFF') AND "
            + MariaDbExpressions.NOW
            + " - "
            + parts[0]
            + " < "
            + COMMITS_MILLIS / 2;
    return Sql.number(connection, isRecent) == 1 ? Boolean.FALSE : null;
  }

  /** Inserts a row. A server without a binary log shows commits before it has flushed them. */
  @Override
  public void touch(Connection connection) throws SQLException {
    String unused = Sql.text(connection, insert());
  }

  @Override
  public String writingServer() {
    return "@@server_id";
  }
}
