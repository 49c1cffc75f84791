// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import io.timewheel.durable.TimerKey;
import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.TimerRecord;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Records on PostgreSQL. They are sent as arrays, one for each column; {@link PostgreSql} says what
 * the planner makes of that.
 */
final class PostgreSqlRecords implements Records {
  static final String DONE_COLUMNS =
      Rows.COLUMNS + ", NULL::bigint AS fire_at, ''::bytea AS payload";

  private static final String KEYS =
      "unnest(?::text[], ?::text[]) WITH ORDINALITY AS k (namespace, id, n)";
  private static final String PRESENT =
      "SELECT t.namespace, t.id FROM timewheel_timer t JOIN "
          + KEYS
          + " ON t.namespace = k.namespace AND t.id = k.id";

  private static final String READINGS =
      "unnest(?::text[], ?::text[], ?::bigint[], ?::bigint[]) WITH ORDINALITY"
          + " AS k (namespace, id, version, revision, n)";
  private static final String IS_READING =
      "t.namespace = k.namespace AND t.id = k.id AND t.version = k.version"
          + " AND t.revision = k.revision";

  // Locked in the order of the keys, whatever the plan: the sort comes before the locks.
  static final String LOCK =
      "SELECT "
          + Rows.TIMER_COLUMNS
          + " FROM timewheel_timer t JOIN "
          + KEYS
          + " ON t.namespace = k.namespace AND t.id = k.id ORDER BY k.n FOR NO KEY UPDATE OF t";

  // Found by their keys, and nothing else: "offset" keeps the other condition out of that.
  static final String FINISHED =
      "SELECT "
          + DONE_COLUMNS
          + ", t.payload_hash FROM "
          + KEYS
          + " CROSS JOIN LATERAL (SELECT * FROM timewheel_done d"
          + " WHERE d.namespace = k.namespace AND d.id = k.id OFFSET 0) t WHERE "
          + Rows.NOT_FORGOTTEN;

  private static final String INSERT =
      """
      INSERT INTO timewheel_timer (namespace, id, handler, version, due_at, fire_at, created_at,
        changed_at, revision, shard, attempt, state, flags, spec, progress, payload)
      SELECT namespace, id, handler, version, due_at, NULLIF(fire_at, 9223372036854775807),
        created_at, changed_at, revision, shard, attempt, state, flags, spec, progress, payload
      FROM unnest(?::text[], ?::text[], ?::text[], ?::bigint[], ?::bigint[], ?::bigint[],
        ?::bigint[], ?::bigint[], ?::bigint[], ?::integer[], ?::integer[], ?::integer[],
        ?::integer[], ?::bytea[], ?::bytea[], ?::bytea[])
        AS k (namespace, id, handler, version, due_at, fire_at, created_at,
          changed_at, revision, shard, attempt, state, flags, spec, progress, payload)
      ON CONFLICT DO NOTHING RETURNING namespace, id\
      """;

  private static final String ADVANCE =
      """
      UPDATE timewheel_timer t SET revision = k.next_revision, due_at = k.due_at,
        fire_at = NULLIF(k.fire_at, 9223372036854775807), changed_at = k.changed_at,
        attempt = k.attempt, state = k.state, flags = k.flags, progress = k.progress
      FROM unnest(?::text[], ?::text[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[],
        ?::bigint[], ?::bigint[], ?::integer[], ?::integer[], ?::integer[], ?::bytea[])
        WITH ORDINALITY AS k (namespace, id, version, revision, next_revision, due_at, fire_at,
          changed_at, attempt, state, flags, progress, n)
      WHERE
      """
          + IS_READING
          + " RETURNING k.n";

  private static final String REPLACE =
      """
      UPDATE timewheel_timer t SET version = k.next_version, revision = k.next_revision,
        due_at = k.due_at, fire_at = NULLIF(k.fire_at, 9223372036854775807),
        created_at = k.created_at, changed_at = k.changed_at, attempt = k.attempt,
        state = k.state, flags = k.flags, progress = k.progress, handler = k.handler,
        spec = k.spec, payload = k.payload
      FROM unnest(?::text[], ?::text[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[],
        ?::bigint[], ?::bigint[], ?::integer[], ?::integer[], ?::integer[], ?::bytea[],
        ?::bigint[], ?::bigint[], ?::text[], ?::bytea[], ?::bytea[])
        WITH ORDINALITY AS k (namespace, id, version, revision, next_revision, due_at, fire_at,
          changed_at, attempt, state, flags, progress,
          next_version, created_at, handler, spec, payload, n)
      WHERE
      """
          + IS_READING
          + " RETURNING k.n";

  private static final String DELETE =
      "DELETE FROM timewheel_timer t USING " + READINGS + " WHERE " + IS_READING + " RETURNING k.n";

  private static final String INSERT_DONE =
      """
      INSERT INTO timewheel_done (part, namespace, id, handler, version, due_at, created_at,
        changed_at, revision, attempt, state, flags, spec, progress, payload_hash)
      SELECT ?, * FROM unnest(?::text[], ?::text[], ?::text[], ?::bigint[], ?::bigint[],
        ?::bigint[], ?::bigint[], ?::bigint[], ?::integer[], ?::integer[], ?::integer[],
        ?::bytea[], ?::bytea[], ?::bytea[])\
      """;

  private static final String DELETE_DONE =
      "DELETE FROM timewheel_done t USING " + READINGS + " WHERE " + IS_READING + " RETURNING k.n";

  private static Parameters keys(Parameters to, List<TimerKey> keys) throws SQLException {
    return to.texts(keys, TimerKey::namespace).texts(keys, TimerKey::id);
  }

  private static Parameters readings(Parameters to, List<TimerRecord> records) throws SQLException {
    return to.texts(records, record -> record.key().namespace())
        .texts(records, record -> record.key().id())
        .longs(records, TimerRecord::version)
        .longs(records, TimerRecord::revision);
  }

  @Override
  public Set<TimerKey> present(Connection connection, List<TimerKey> keys) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(PRESENT)) {
      keys(new Parameters(connection, statement), keys);
      return found(statement);
    }
  }

  private static Set<TimerKey> found(PreparedStatement statement) throws SQLException {
    try (ResultSet rows = statement.executeQuery()) {
      Set<TimerKey> found = new HashSet<>();
      while (rows.next()) {
        found.add(new TimerKey(rows.getString(1), rows.getString(2)));
      }
      return found;
    }
  }

  @Override
  public Map<TimerKey, TimerRecord> lock(Connection connection, List<TimerKey> keys, Held held)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(LOCK + held.sql)) {
      keys(new Parameters(connection, statement), keys);
      try (ResultSet rows = statement.executeQuery()) {
        Map<TimerKey, TimerRecord> found = new HashMap<>(2 * keys.size());
        while (rows.next()) {
          TimerRecord record = Rows.record(rows);
          found.put(record.key(), record);
        }
        return found;
      }
    }
  }

  @Override
  public Map<TimerKey, Finished> finished(Connection connection, List<TimerKey> keys)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(FINISHED)) {
      keys(new Parameters(connection, statement), keys);
      try (ResultSet rows = statement.executeQuery()) {
        Map<TimerKey, Finished> found = new HashMap<>();
        while (rows.next()) {
          TimerRecord record = Rows.record(rows);
          found.put(record.key(), new Finished(record, rows.getBytes(Rows.PAYLOAD_HASH)));
        }
        return found;
      }
    }
  }

  @Override
  public boolean[] insert(Connection connection, List<TimerRecord> records, int shards)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(INSERT)) {
      new Parameters(connection, statement)
          .texts(records, record -> record.key().namespace())
          .texts(records, record -> record.key().id())
          .texts(records, record -> record.definition().handler())
          .longs(records, TimerRecord::version)
          .longs(records, TimerRecord::dueAt)
          .longs(records, TimerRecord::fireAt)
          .longs(records, TimerRecord::createdAt)
          .longs(records, TimerRecord::changedAt)
          .longs(records, TimerRecord::revision)
          .ints(records, record -> Shards.of(record.key(), shards))
          .ints(records, TimerRecord::attempt)
          .ints(records, Rows::state)
          .ints(records, Rows::flags)
          .bytes(records, Rows::spec)
          .bytes(records, Rows::progress)
          .bytes(records, record -> record.definition().payload());
      Set<TimerKey> inserted = found(statement);
      boolean[] which = new boolean[records.size()];
      for (int i = 0; i < which.length; i++) {
        which[i] = inserted.contains(records.get(i).key());
      }
      return which;
    }
  }

  private static boolean[] numbers(PreparedStatement statement, int size) throws SQLException {
    boolean[] which = new boolean[size];
    try (ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        which[rows.getInt(1) - 1] = true;
      }
    }
    return which;
  }

  private static Parameters progress(Parameters to, List<Step> steps) throws SQLException {
    List<TimerRecord> after = after(steps);
    return readings(to, before(steps))
        .longs(after, TimerRecord::revision)
        .longs(after, TimerRecord::dueAt)
        .longs(after, TimerRecord::fireAt)
        .longs(after, TimerRecord::changedAt)
        .ints(after, TimerRecord::attempt)
        .ints(after, Rows::state)
        .ints(after, Rows::flags)
        .bytes(after, Rows::progress);
  }

  private static List<TimerRecord> before(List<Step> steps) {
    return steps.stream().map(Step::before).toList();
  }

  private static List<TimerRecord> after(List<Step> steps) {
    return steps.stream().map(Step::after).toList();
  }

  @Override
  public boolean[] advance(Connection connection, List<Step> steps) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(ADVANCE)) {
      progress(new Parameters(connection, statement), steps);
      return numbers(statement, steps.size());
    }
  }

  @Override
  public boolean[] replace(Connection connection, List<Step> steps) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(REPLACE)) {
      List<TimerRecord> after = after(steps);
      progress(new Parameters(connection, statement), steps)
          .longs(after, TimerRecord::version)
          .longs(after, TimerRecord::createdAt)
          .texts(after, record -> record.definition().handler())
          .bytes(after, Rows::spec)
          .bytes(after, record -> record.definition().payload());
      return numbers(statement, steps.size());
    }
  }

  @Override
  public boolean[] finish(Connection connection, List<Step> steps, int part) throws SQLException {
    boolean[] gone;
    try (PreparedStatement statement = connection.prepareStatement(DELETE)) {
      readings(new Parameters(connection, statement), before(steps));
      gone = numbers(statement, steps.size());
    }
    List<TimerRecord> finished = Step.after(steps, gone);
    if (!finished.isEmpty()) {
      insertDone(connection, finished, part);
    }
    return gone;
  }

  private static void insertDone(Connection connection, List<TimerRecord> records, int part)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(INSERT_DONE)) {
      new Parameters(connection, statement)
          .number(part)
          .texts(records, record -> record.key().namespace())
          .texts(records, record -> record.key().id())
          .texts(records, record -> record.definition().handler())
          .longs(records, TimerRecord::version)
          .longs(records, TimerRecord::dueAt)
          .longs(records, TimerRecord::createdAt)
          .longs(records, TimerRecord::changedAt)
          .longs(records, TimerRecord::revision)
          .ints(records, TimerRecord::attempt)
          .ints(records, Rows::state)
          .ints(records, Rows::flags)
          .bytes(records, Rows::spec)
          .bytes(records, Rows::progress)
          .bytes(records, record -> Rows.hash(record.definition().payload()));
      statement.executeUpdate();
    }
  }

  @Override
  public boolean[] unfinish(Connection connection, List<TimerRecord> records) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(DELETE_DONE)) {
      readings(new Parameters(connection, statement), records);
      return numbers(statement, records.size());
    }
  }

  @Override
  public void addReady(Connection connection, List<TimerRecord> records) throws SQLException {
    ready(
        connection,
        "INSERT INTO timewheel_ready (namespace, queue, ready_at, id)"
            + " SELECT * FROM unnest(?::text[], ?::text[], ?::bigint[], ?::text[])",
        records);
  }

  @Override
  public void removeReady(Connection connection, List<TimerRecord> records) throws SQLException {
    ready(
        connection,
        "DELETE FROM timewheel_ready r"
            + " USING unnest(?::text[], ?::text[], ?::bigint[], ?::text[])"
            + " AS k (namespace, queue, ready_at, id)"
            + " WHERE r.namespace = k.namespace AND r.queue = k.queue"
            + " AND r.ready_at = k.ready_at AND r.id = k.id",
        records);
  }

  private static void ready(Connection connection, String sql, List<TimerRecord> records)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      new Parameters(connection, statement)
          .texts(records, record -> record.key().namespace())
          .texts(records, record -> record.definition().handler())
          .longs(records, TimerRecord::changedAt)
          .texts(records, record -> record.key().id());
      statement.executeUpdate();
    }
  }
}
