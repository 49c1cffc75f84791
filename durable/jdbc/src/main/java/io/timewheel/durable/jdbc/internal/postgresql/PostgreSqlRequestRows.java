// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.postgresql;

import io.timewheel.durable.jdbc.internal.server.RequestRows;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.jdbc.internal.sql.Statements.Answer;
import io.timewheel.durable.spi.format.Codes;
import io.timewheel.durable.spi.record.RequestAnswer;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;

/** Reads and writes the answers of requests on PostgreSQL. */
final class PostgreSqlRequestRows extends RequestRows {
  private static final String FIND =
      "SELECT a.namespace, a.id, a.request, a.digest, a.answer, a.version, a.answered_at"
          + " FROM timewheel_answer a JOIN "
          + PostgreSqlRecords.rows("namespace text, id text, request text")
          + " ON a.namespace = k.namespace AND a.id = k.id AND a.request = k.request";

  private static final String INSERT =
      "INSERT INTO timewheel_answer ("
          + COLUMNS
          + ") SELECT "
          + COLUMNS
          + " FROM "
          + PostgreSqlRecords.rows(
              "namespace text, id text, request text, digest text, answer integer,"
                  + " version bigint, answered_at bigint");

  @Override
  public Answer<Map<Key, RequestAnswer>> find(Statements to, List<Key> keys) {
    return to.query(
        FIND,
        values ->
            values
                .texts(keys, key -> key.timer().namespace())
                .texts(keys, key -> key.timer().id())
                .texts(keys, Key::request),
        RequestRows::read);
  }

  @Override
  public void insert(Statements to, List<RequestAnswer> answers) throws SQLException {
    to.update(
        INSERT,
        values ->
            values
                .texts(answers, answer -> answer.key().namespace())
                .texts(answers, answer -> answer.key().id())
                .texts(answers, answer -> answer.request().id())
                .texts(answers, answer -> answer.request().digest())
                .ints(answers, answer -> Codes.ANSWERS.of(answer.answer()))
                .longs(answers, RequestAnswer::version)
                .longs(answers, RequestAnswer::answeredAt));
    to.send();
  }
}
