// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.server;

import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.record.TimerRecord;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Consumer;

/**
 * Inserts new timers in one round trip, on a connection in autocommit mode. The server executes its
 * statements as one transaction. All of the timers are inserted and counted, or none is.
 */
public interface DirectInserts {
  /**
   * The result of an insert.
   *
   * @param firstVersion the version of the first timer; the others have the versions after it
   * @param inserted true if the timers were inserted and committed
   * @param oneTransaction true if the driver has sent the statements as one transaction, with an
   *     isolation in which each statement reads earlier commits of others
   */
  record Answer(long firstVersion, boolean inserted, boolean oneTransaction) {}

  /**
   * Checks whether this connection sends the statements of an insert as one READ COMMITTED
   * transaction. Called before the other methods.
   *
   * @param connection a connection in autocommit mode
   */
  boolean isPossible(Connection connection) throws SQLException;

  /** {@return whether timers are small enough for one insert} */
  default boolean fits(List<TimerRecord> records) {
    return true;
  }

  /**
   * Inserts timers that are neither in the table of timers nor in the history.
   *
   * @param connection a connection in autocommit mode
   * @param records new timers in the order of their keys, each key once; their versions are ignored
   * @param token a number that no other insert has
   * @param notification adds the statement that notifies other nodes
   * @throws SQLException if nothing was committed, unless {@link #mayBeCommitted} returns true for
   *     it
   */
  Answer insert(
      Connection connection,
      List<TimerRecord> records,
      long token,
      int shards,
      Consumer<Statements> notification)
      throws SQLException;

  /**
   * {@return a number that identifies the session of a connection for {@link #hasEnded}; 0 if the
   * connection may use other sessions of the server, as behind a pooler}
   */
  int session(Connection connection) throws SQLException;

  /** {@return whether a session has ended, so that no insert of it is in progress or will begin} */
  boolean hasEnded(Connection connection, int session) throws SQLException;

  /** {@return whether a failed insert may have been committed nevertheless} */
  boolean mayBeCommitted(SQLException failure);

  /** {@return whether the server refuses all such inserts, although write batches may succeed} */
  default boolean isRefused(SQLException failure) {
    return false;
  }

  /** {@return whether an insert failed because a timer already exists, or is in the history} */
  boolean isNotNew(SQLException failure);

  /**
   * A timer that was found after the answer to an insert was lost.
   *
   * @param key the timer
   * @param version its version
   * @param own true if the row contains the token of the insert
   */
  record Found(TimerKey key, long version, boolean own) {}

  /**
   * The result of a lookup after the answer to an insert was lost.
   *
   * @param isPrimary true if the server would know the insert
   * @param purgedUntil the time up to which the history is purged
   * @param timers the timers that exist, or are in the history
   */
  record Look(boolean isPrimary, long purgedUntil, List<Found> timers) {}

  /** Looks up timers and a token. */
  Look look(Connection connection, List<TimerKey> keys, long token) throws SQLException;
}
