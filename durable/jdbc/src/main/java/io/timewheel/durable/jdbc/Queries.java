// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import io.timewheel.durable.TimerKey;
import io.timewheel.durable.TimerState;
import io.timewheel.durable.spi.DuePosition;
import io.timewheel.durable.spi.DueTimer;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.TimerRecord;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The part of a {@link Dialect} that looks, claims for queues, and keeps the history short. */
interface Queries {
  // Reading

  @Nullable TimerRecord get(Connection connection, TimerKey key) throws SQLException;

  List<DueTimer> due(
      Connection connection,
      int shard,
      long from,
      long until,
      @Nullable DuePosition after,
      int limit)
      throws SQLException;

  List<TimerRecord> page(
      Connection connection, TimerQuery query, @Nullable TimerKey after, int limit)
      throws SQLException;

  long[] histogram(Connection connection, @Nullable String namespace, long[] bounds)
      throws SQLException;

  Map<String, Map<TimerState, Long>> counts(Connection connection) throws SQLException;

  /** Has the sums of the counters take the place of what they were made from. */
  void compactCounts(Connection connection) throws SQLException;

  Set<String> paused(Connection connection) throws SQLException;

  /** Lets no transaction that holds the pauses go on beside this one. */
  void lockPauses(Connection connection) throws SQLException;

  void pause(Connection connection, String scope) throws SQLException;

  void resume(Connection connection, String scope) throws SQLException;

  /** Takes ready timers of a queue that nobody else is taking, and locks their records. */
  List<TimerRecord> takeReady(Connection connection, String namespace, String queue, int limit)
      throws SQLException;

  // History

  /**
   * The one row about the history.
   *
   * @param forgotten up to where it is forgotten
   * @param part where finished timers are put
   * @param since since when
   * @param now the time of the database
   */
  record History(DuePosition forgotten, int part, long since, long now) {}

  /** {@return the history, locked; null if another transaction is at it} */
  @Nullable History lockHistory(Connection connection) throws SQLException;

  int historyPart(Connection connection) throws SQLException;

  /** A finished timer in the order of the history. */
  record Past(DuePosition position, TimerState state) {}

  List<Past> past(Connection connection, DuePosition after, int limit) throws SQLException;

  void forgetUpTo(Connection connection, DuePosition position) throws SQLException;

  /** Puts what finishes from now on elsewhere. */
  void startPart(Connection connection, int part) throws SQLException;

  /** {@return when the last timer of a part ended; null if the part is empty} */
  @Nullable Long endOfPart(Connection connection, int part) throws SQLException;

  void emptyPart(Connection connection, int part) throws SQLException;
}
