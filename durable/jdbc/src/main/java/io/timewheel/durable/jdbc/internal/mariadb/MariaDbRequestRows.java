// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.mariadb;

import io.timewheel.durable.jdbc.internal.server.RequestRows;
import io.timewheel.durable.jdbc.internal.sql.Parameters;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.jdbc.internal.sql.Statements.Answer;
import io.timewheel.durable.spi.format.Codes;
import io.timewheel.durable.spi.record.RequestAnswer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads and writes the answers of requests on MariaDB. */
final class MariaDbRequestRows extends RequestRows {
  private static final String FIND =
      "SELECT " + COLUMNS + " FROM timewheel_answer FORCE INDEX (PRIMARY) WHERE ";

  private static final String IS_KEY = "(namespace = ? AND id = ? AND request = ?)";

  @Override
  public Answer<Map<Key, RequestAnswer>> find(Statements to, List<Key> keys) throws SQLException {
    Connection connection = to.connection();
    Map<Key, RequestAnswer> found = new HashMap<>();
    for (int from = 0; from < keys.size(); from += MariaDbRows.MAX_ROWS) {
      List<Key> some = keys.subList(from, Math.min(keys.size(), from + MariaDbRows.MAX_ROWS));
      String sql = FIND + IS_KEY + (" OR " + IS_KEY).repeat(some.size() - 1);
      try (PreparedStatement statement = connection.prepareStatement(sql)) {
        Parameters values = new Parameters(connection, statement);
        for (Key key : some) {
          values.text(key.timer().namespace()).text(key.timer().id()).text(key.request());
        }
        try (ResultSet rows = statement.executeQuery()) {
          found.putAll(read(rows));
        }
      }
    }
    return () -> found;
  }

  @Override
  public void insert(Statements to, List<RequestAnswer> answers) throws SQLException {
    MariaDbRows.insert(
        to.connection(),
        "INSERT INTO timewheel_answer (" + COLUMNS + ")",
        7,
        answers,
        (values, answer) ->
            values
                .text(answer.key().namespace())
                .text(answer.key().id())
                .text(answer.request().id())
                .text(answer.request().digest())
                .number(Codes.ANSWERS.of(answer.answer()))
                .number(answer.version())
                .number(answer.answeredAt()));
  }
}
