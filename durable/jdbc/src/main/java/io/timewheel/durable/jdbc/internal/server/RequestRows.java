// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.server;

import io.timewheel.durable.jdbc.internal.sql.Parameters;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.jdbc.internal.sql.Statements.Answer;
import io.timewheel.durable.model.RequestId;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.format.Codes;
import io.timewheel.durable.spi.record.RequestAnswer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads, writes and purges the answers of requests. */
public abstract class RequestRows {
  /** The columns of an answer, in the order in which they are read and written. */
  protected static final String COLUMNS =
      "namespace, id, request, digest, answer, version, answered_at";

  /** Reads all answers. */
  public static final String ALL = "SELECT " + COLUMNS + " FROM timewheel_answer";

  /** Identifies a request of a timer. */
  public record Key(TimerKey timer, String request) {}

  /** {@return the answers of those requests that have one} */
  public abstract Answer<Map<Key, RequestAnswer>> find(Statements to, List<Key> keys)
      throws SQLException;

  /**
   * Inserts answers. If another transaction is answering one of the requests, waits for its end.
   * Fails with an error for which {@link ServerErrors#isThere} returns true if one has committed an
   * answer.
   *
   * @param answers the answers, in the order of their keys
   */
  public abstract void insert(Statements to, List<RequestAnswer> answers) throws SQLException;

  /** Reads rows of {@link #COLUMNS}. */
  protected static Map<Key, RequestAnswer> read(ResultSet rows) throws SQLException {
    Map<Key, RequestAnswer> found = new HashMap<>();
    while (rows.next()) {
      RequestAnswer answer = answer(rows);
      found.put(new Key(answer.key(), answer.request().id()), answer);
    }
    return found;
  }

  /**
   * Reads a row of {@link #COLUMNS}.
   *
   * @throws IllegalArgumentException if it is not an answer
   */
  public static RequestAnswer answer(ResultSet row) throws SQLException {
    return new RequestAnswer(
        new TimerKey(row.getString(1), row.getString(2)),
        new RequestId(row.getString(3), row.getString(4)),
        Codes.ANSWERS.at(row.getInt(5)),
        row.getLong(6),
        row.getLong(7));
  }

  /**
   * Deletes the oldest answers before a time.
   *
   * @return the number of answers deleted
   */
  public int purge(Connection connection, long answeredBefore, int limit) throws SQLException {
    List<Key> old = old(connection, answeredBefore, limit);
    try (PreparedStatement statement =
        connection.prepareStatement(
            "DELETE FROM timewheel_answer WHERE namespace = ? AND id = ? AND request = ?")) {
      for (Key key : old) {
        new Parameters(connection, statement)
            .text(key.timer().namespace())
            .text(key.timer().id())
            .text(key.request());
        statement.addBatch();
      }
      if (!old.isEmpty()) {
        int[] unused = statement.executeBatch();
      }
    }
    return old.size();
  }

  private static List<Key> old(Connection connection, long answeredBefore, int limit)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "SELECT namespace, id, request FROM timewheel_answer WHERE answered_at < ?"
                + " ORDER BY answered_at LIMIT ?")) {
      new Parameters(connection, statement).number(answeredBefore).number(limit);
      try (ResultSet rows = statement.executeQuery()) {
        List<Key> old = new ArrayList<>();
        while (rows.next()) {
          old.add(new Key(new TimerKey(rows.getString(1), rows.getString(2)), rows.getString(3)));
        }
        return old;
      }
    }
  }
}
