// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.maintenance;

import io.timewheel.durable.jdbc.internal.rows.Formats;
import io.timewheel.durable.jdbc.internal.rows.Rows;
import io.timewheel.durable.jdbc.internal.server.CommitProof;
import io.timewheel.durable.jdbc.internal.server.Queries;
import io.timewheel.durable.jdbc.internal.server.ServerParts;
import io.timewheel.durable.jdbc.internal.server.TransactionSql;
import io.timewheel.durable.jdbc.internal.transaction.Transactions;
import io.timewheel.durable.jdbc.internal.transaction.Transactions.Work;
import io.timewheel.durable.spi.CopiedTimer;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerSink;
import io.timewheel.durable.spi.maintenance.IncompleteExportException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads all timers in a transaction of one snapshot, alongside live nodes. It skips rows that
 * cannot be read, and reports them at the end.
 */
public final class TimerExport {
  /** The number of rows that the driver keeps in memory. A payload has at most 64 KiB. */
  private static final int FETCHED_ROWS = 100;

  private final Transactions transactions;
  private final Formats formats;
  private final TransactionSql sql;
  private final Queries queries;

  public TimerExport(Transactions transactions, ServerParts server) {
    this.transactions = transactions;
    formats = server.formats();
    sql = server.transactions();
    queries = server.queries();
  }

  /** Hands all timers to a sink. */
  public void copyTo(TimerSink sink) {
    Unread unread =
        transactions.writeOnce(
            new Work<>() {
              @Override
              public Unread run(Connection connection) throws SQLException {
                return Repair.unlimited(connection, () -> copy(connection, sink));
              }

              @Override
              public @Nullable String transactionId(Connection connection, CommitProof commits) {
                return null; // it commits nothing
              }
            });
    unread.check();
  }

  private Unread copy(Connection connection, TimerSink sink) throws SQLException {
    sql.beginSnapshot(connection, false);
    formats.checkInUse(connection);
    // All versions of the snapshot are below the next block.
    sink.begin(queries.nextVersion(connection) - 1, queries.paused(connection));
    Unread unread = new Unread();
    for (String all : queries.all()) {
      try (PreparedStatement statement = connection.prepareStatement(all)) {
        statement.setFetchSize(FETCHED_ROWS);
        try (ResultSet rows = statement.executeQuery()) {
          while (rows.next()) {
            take(rows, sink, unread);
          }
        }
      }
    }
    sink.end();
    return unread;
  }

  private static void take(ResultSet row, TimerSink sink, Unread unread) throws SQLException {
    CopiedTimer timer;
    try {
      byte[] hash = row.getBytes(Rows.PAYLOAD_HASH);
      timer =
          new CopiedTimer(Rows.record(row), hash == null ? null : HexFormat.of().formatHex(hash));
    } catch (StoreException e) {
      unread.add(e);
      return;
    }
    unread.written++;
    sink.take(timer);
  }

  /** The rows that could not be read, and the number of the others. */
  private static final class Unread {
    private final List<String> texts = new ArrayList<>();
    private @Nullable StoreException first;
    private long number;
    private long written;

    void add(StoreException why) {
      first = first == null ? why : first;
      number++;
      if (texts.size() < IncompleteExportException.MAX_TEXTS) {
        texts.add(String.valueOf(why.getMessage()));
      }
    }

    void check() {
      if (first != null) {
        throw new IncompleteExportException(
            "the export is incomplete: %d timers are in it, and %d could not be read; %s"
                .formatted(written, number, texts.get(0)),
            written,
            number,
            texts,
            first);
      }
    }
  }
}
