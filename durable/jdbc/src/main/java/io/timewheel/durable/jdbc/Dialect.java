// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import io.timewheel.durable.TimerState;
import io.timewheel.durable.spi.StoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What differs from database to database: the statements. */
interface Dialect {
  /** {@return the statements that make the tables of a format} */
  List<String> migration(int format);

  /** Refuses a database that cannot hold the tables. */
  void check(Connection connection) throws SQLException;

  /** Takes the right to change the tables, until the transaction ends. */
  void lockSchema(Connection connection) throws SQLException;

  /** {@return whether there is the table in which the format is} */
  boolean hasSchema(Connection connection) throws SQLException;

  /** {@return what is known about a call that failed so before its commit} */
  StoreException.Kind kind(SQLException failure);

  /** {@return whether a transaction that failed so, and did nothing, is worth another try} */
  boolean mayGoWellNextTime(SQLException failure);

  /** {@return whether a statement has waited for a lock for too long} */
  boolean isHeldUp(SQLException failure);

  /** {@return whether a commit may have been refused because a hint went with it} */
  boolean mayBeForItsHint(SQLException failure);

  /** {@return what to ask {@link #isCommitted} about; null if there is nothing to commit} */
  @Nullable String transactionId(Connection connection) throws SQLException;

  /** {@return whether a transaction was committed; null while it is in progress} */
  @Nullable Boolean isCommitted(Connection connection, String transactionId) throws SQLException;

  /**
   * Sets the limits of a transaction that commits a group.
   *
   * @return the first version of a block that is this transaction's own, if one is wanted; it has
   *     room for all rounds of the largest group
   */
  long begin(Connection connection, boolean wantsVersions) throws SQLException;

  /** {@return the paused scopes, which stay as they are until the transaction ends} */
  Set<String> holdPauses(Connection connection) throws SQLException;

  /** Adds to how many timers there are. */
  void count(Connection connection, Map<String, Map<TimerState, Long>> deltas) throws SQLException;

  /** {@return the epochs of shards, which stay as they are until the transaction ends} */
  Map<Integer, Long> holdEpochs(Connection connection, List<Integer> shards) throws SQLException;

  // Hints

  /** {@return the name under which nodes on the same tables exchange hints} */
  String hintChannel(Connection connection) throws SQLException;

  /** Tells other nodes, if the transaction commits. */
  void hint(Connection connection, String channel, String text) throws SQLException;

  void listen(Connection connection, String channel) throws SQLException;

  void unlisten(Connection connection, String channel) throws SQLException;

  /** Waits for hints. {@return those that came; none if the time is over} */
  List<String> hints(Connection connection, int timeoutMillis) throws SQLException;

  /** {@return the statements for the records of a group} */
  Records records();

  /** {@return the statements that are apart from the commit of a group} */
  Queries queries();

  /** {@return the statements for transactions in which the user has work of his own} */
  UserTransactions userTransactions();

  /** {@return an expression for the time of the database in milliseconds, as it passes} */
  String nowMillis();
}
