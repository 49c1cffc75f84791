// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.postgresql;

import io.timewheel.durable.jdbc.internal.rows.Rows;
import io.timewheel.durable.jdbc.internal.server.Records;
import io.timewheel.durable.jdbc.internal.server.Records.Finished;
import io.timewheel.durable.jdbc.internal.server.Records.Lock;
import io.timewheel.durable.jdbc.internal.sql.Parameters;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.jdbc.internal.sql.Statements.Answer;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.batch.StateCounts.Count;
import io.timewheel.durable.spi.record.TimerRecord;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Reads and writes records on PostgreSQL. Statements receive records as arrays, one for each
 * column. {@link PostgreSqlTransactions} describes their plans.
 */
public final class PostgreSqlRecords implements Records {
  private final PostgreSqlCommitProof commits;

  static final String NO_PAYLOAD = "''::bytea AS payload";
  static final String DONE_COLUMNS = Rows.COLUMNS + ", NULL::bigint AS fire_at, " + NO_PAYLOAD;

  private static final String KEYS = rows("namespace text, id text, n integer");
  private static final String PRESENT =
      "SELECT t.namespace, t.id FROM timewheel_timer t JOIN "
          + KEYS
          + " ON t.namespace = k.namespace AND t.id = k.id";

  private static final String READING =
      "namespace text, id text, version bigint, revision bigint, n integer";
  private static final String READINGS = rows(READING);
  private static final String IS_READING =
      "t.namespace = k.namespace AND t.id = k.id AND t.version = k.version"
          + " AND t.revision = k.revision";

  private static final String READ =
      "SELECT "
          + Rows.TIMER_COLUMNS
          + " FROM timewheel_timer t JOIN "
          + KEYS
          + " ON t.namespace = k.namespace AND t.id = k.id";

  // In every plan, rows are locked in the order of the keys, because the sort comes before the
  // locks.
  public static final String LOCK = READ + " ORDER BY k.n FOR NO KEY UPDATE OF t";

  // Finds rows only by their keys: OFFSET keeps the other condition out of the index scan.
  public static final String FINISHED =
      "SELECT "
          + DONE_COLUMNS
          + ", t.payload_hash FROM "
          + KEYS
          + " CROSS JOIN LATERAL (SELECT * FROM timewheel_done d"
          + " WHERE d.namespace = k.namespace AND d.id = k.id OFFSET 0) t WHERE "
          + Rows.NOT_PURGED;

  static final String COLUMNS =
      """
      namespace, id, handler, version, due_at, created_at, changed_at, revision, attempt, state, \
      flags, spec, progress\
      """;

  private static final String INSERT_NEW =
      "INSERT INTO timewheel_timer ("
          + COLUMNS
          + ", fire_at, shard, payload) SELECT "
          + COLUMNS.replace(" created_at", " NULLIF(created_at, changed_at)")
          + ", NULLIF(fire_at, 9223372036854775807), shard, payload FROM "
          + rows(
              """
              namespace text, id text, handler text, version bigint, due_at bigint, \
              created_at bigint, changed_at bigint, revision bigint, attempt integer, \
              state integer, flags integer, spec bytea, progress bytea, fire_at bigint, \
              shard integer, payload bytea\
              """);

  // The versions identify the inserted rows, because they are unique within a batch.
  private static final String INSERT = INSERT_NEW + " ON CONFLICT DO NOTHING RETURNING version";

  private static final String PROGRESS =
      READING
          + """
          , next_revision bigint, due_at bigint, fire_at bigint, changed_at bigint, \
          attempt integer, state integer, flags integer, progress bytea\
          """;

  private static final String SET_PROGRESS =
      """
      revision = k.next_revision, due_at = k.due_at, \
      fire_at = NULLIF(k.fire_at, 9223372036854775807), changed_at = k.changed_at, \
      attempt = k.attempt, state = k.state, flags = k.flags, progress = k.progress\
      """;

  public static final String ADVANCE =
      "UPDATE timewheel_timer t SET created_at = "
          + Rows.CREATED_AT
          + ", "
          + SET_PROGRESS
          + " FROM "
          + rows(PROGRESS)
          + " WHERE "
          + IS_READING
          + " RETURNING k.n";

  public static final String REPLACE =
      "UPDATE timewheel_timer t SET version = k.next_version,"
          + " created_at = NULLIF(k.created_at, k.changed_at),"
          + " token = CASE WHEN k.next_version = t.version THEN t.token END,"
          + " handler = k.handler, spec = k.spec, payload = k.payload, "
          + SET_PROGRESS
          + " FROM "
          + rows(
              PROGRESS
                  + ", next_version bigint, created_at bigint, handler text, spec bytea,"
                  + " payload bytea")
          + " WHERE "
          + IS_READING
          + " RETURNING k.n";

  private static final String REMOVE =
      "DELETE FROM timewheel_timer t USING " + READINGS + " WHERE " + IS_READING;

  // The time must be after the purged position. Before it, the timer would be invisible, and no
  // purge would subtract it from the counters.
  private static final String CHANGED_AT =
      " greatest(changed_at, (SELECT forgotten_at + 1 FROM timewheel_history))";

  // The DELETE returns the values to insert, because a join of deleted rows and parameters would be
  // quadratic. The statement itself reads the part of the history: an earlier read could miss a
  // switch to a new part.
  public static final String FINISH =
      "WITH gone AS (DELETE FROM timewheel_timer t USING "
          + rows(
              READING
                  + """
                  , handler text, next_version bigint, due_at bigint, created_at bigint, \
                  changed_at bigint, next_revision bigint, attempt integer, state integer, \
                  flags integer, spec bytea, progress bytea, payload_hash bytea\
                  """)
          + " WHERE "
          + IS_READING
          + " RETURNING k.*, t.token), done AS (INSERT INTO timewheel_done (part, token, "
          + COLUMNS
          + ", payload_hash) SELECT (SELECT part FROM timewheel_history),"
          + " CASE WHEN next_version = version THEN token END, "
          + COLUMNS
              .replace(" version", " next_version")
              .replace(" revision", " next_revision")
              .replace(" changed_at", CHANGED_AT)
          + ", payload_hash FROM gone) SELECT n FROM gone";

  // The lock of the epoch has a subquery of its own, because a row that changes meanwhile is
  // evaluated again, and the DELETE must not be.
  private static final String FINISH_ONE =
      "WITH gone AS (DELETE FROM timewheel_timer t WHERE t.namespace = ?::text AND t.id = ?::text"
          + " AND t.version = ?::bigint AND t.revision = ?::bigint RETURNING t.token),"
          + " done AS (INSERT INTO timewheel_done (part, token, "
          + COLUMNS
          + ", payload_hash) SELECT (SELECT part FROM timewheel_history),"
          + " CASE WHEN ?::integer = 1 THEN token END, ?::text, ?::text, ?::text, ?::bigint,"
          + " ?::bigint, ?::bigint,"
          + CHANGED_AT.replace("changed_at", "?::bigint")
          + ", ?::bigint, ?::integer, ?::integer, ?::integer, ?::bytea, ?::bytea, ?::bytea"
          + " FROM gone), counted AS ("
          + PostgreSqlSharedRows.COUNT
          + ") SELECT g.n, e.epoch, "
          + PostgreSqlCommitProof.WITH_LOG
          + " FROM (SELECT count(*) AS n FROM gone) g LEFT JOIN"
          + " (SELECT epoch FROM timewheel_shard WHERE shard = ?::integer FOR SHARE) e ON true";

  private static final String FINISH_ONE_WITHOUT_LOG =
      FINISH_ONE.replace(PostgreSqlCommitProof.WITH_LOG, PostgreSqlCommitProof.WITHOUT_LOG);

  private static final String INSERT_DONE =
      "INSERT INTO timewheel_done (part, "
          + COLUMNS
          + ", payload_hash) SELECT (SELECT part FROM timewheel_history), "
          + COLUMNS
          + ", payload_hash FROM "
          + rows(
              """
              namespace text, id text, handler text, version bigint, due_at bigint, \
              created_at bigint, changed_at bigint, revision bigint, attempt integer, \
              state integer, flags integer, spec bytea, progress bytea, payload_hash bytea\
              """);

  private static final String DELETE_DONE =
      "DELETE FROM timewheel_done t USING " + READINGS + " WHERE " + IS_READING + " RETURNING k.n";

  /**
   * Returns rows from arrays, one for each column. {@code FROM unnest(…, …)} would cost twice as
   * much, because it stores each array separately before it joins them.
   *
   * @param columns their names and types
   */
  static String rows(String columns) {
    return Arrays.stream(columns.split(", "))
        .map(column -> column.split(" "))
        .map(column -> "unnest(?::" + column[1] + "[]) AS " + column[0])
        .collect(Collectors.joining(", ", "(SELECT ", ") k"));
  }

  private static Parameters keys(Parameters to, List<TimerKey> keys) throws SQLException {
    return to.texts(keys, TimerKey::namespace).texts(keys, TimerKey::id).numbers(keys.size());
  }

  private static Parameters readings(Parameters to, List<TimerRecord> records) throws SQLException {
    return to.texts(records, record -> record.key().namespace())
        .texts(records, record -> record.key().id())
        .longs(records, TimerRecord::version)
        .longs(records, TimerRecord::revision)
        .numbers(records.size());
  }

  PostgreSqlRecords(PostgreSqlCommitProof commits) {
    this.commits = commits;
  }

  @Override
  public Set<TimerKey> present(Connection connection, List<TimerKey> keys) throws SQLException {
    try (Statements to = new Statements(connection)) {
      return to.query(PRESENT, values -> keys(values, keys), PostgreSqlRecords::found).get();
    }
  }

  private static Set<TimerKey> found(ResultSet rows) throws SQLException {
    Set<TimerKey> found = new HashSet<>();
    while (rows.next()) {
      found.add(new TimerKey(rows.getString(1), rows.getString(2)));
    }
    return found;
  }

  @Override
  public Answer<Map<TimerKey, TimerRecord>> read(Statements to, List<TimerKey> keys, Lock lock) {
    return to.query(
        lock == Lock.NONE ? READ : LOCK + lock.sql,
        values -> keys(values, keys),
        rows -> {
          Map<TimerKey, TimerRecord> found = new HashMap<>(2 * keys.size());
          while (rows.next()) {
            TimerRecord record = Rows.record(rows);
            found.put(record.key(), record);
          }
          return found;
        });
  }

  @Override
  public Answer<Map<TimerKey, Finished>> finished(Statements to, List<TimerKey> keys) {
    return to.query(
        FINISHED,
        values -> keys(values, keys),
        rows -> {
          Map<TimerKey, Finished> found = new HashMap<>();
          while (rows.next()) {
            TimerRecord record = Rows.record(rows);
            found.put(record.key(), new Finished(record, rows.getBytes(Rows.PAYLOAD_HASH)));
          }
          return found;
        });
  }

  @Override
  public Answer<boolean[]> insert(
      Statements to, List<TimerRecord> records, int shards, boolean daring) {
    if (daring) {
      to.update(INSERT_NEW, values -> timers(values, records, shards));
      boolean[] all = new boolean[records.size()];
      Arrays.fill(all, true);
      return () -> all;
    }
    return to.query(
        INSERT,
        values -> timers(values, records, shards),
        rows -> {
          Set<Long> inserted = new HashSet<>();
          while (rows.next()) {
            inserted.add(rows.getLong(1));
          }
          boolean[] which = new boolean[records.size()];
          for (int i = 0; i < which.length; i++) {
            which[i] = inserted.contains(records.get(i).version());
          }
          return which;
        });
  }

  private static Parameters timers(Parameters to, List<TimerRecord> records, int shards)
      throws SQLException {
    to.texts(records, record -> record.key().namespace())
        .texts(records, record -> record.key().id());
    return columns(to, records)
        .longs(records, TimerRecord::fireAt)
        .ints(records, record -> Shards.of(record.key(), shards))
        .bytes(records, record -> record.definition().payload());
  }

  /** Binds the columns that the timer table and the history share, from the handler on. */
  private static Parameters columns(Parameters to, List<TimerRecord> records) throws SQLException {
    return to.texts(records, record -> record.definition().handler())
        .longs(records, TimerRecord::version)
        .longs(records, TimerRecord::dueAt)
        .longs(records, TimerRecord::createdAt)
        .longs(records, TimerRecord::changedAt)
        .longs(records, TimerRecord::revision)
        .ints(records, TimerRecord::attempt)
        .ints(records, Rows::state)
        .ints(records, Rows::flags)
        .bytes(records, Rows::spec)
        .bytes(records, Rows::progress);
  }

  @Override
  public void remove(Statements to, List<TimerRecord> records) {
    to.update(REMOVE, values -> readings(values, records));
  }

  private static Statements.Reading<boolean[]> numbers(int size) {
    return rows -> {
      boolean[] which = new boolean[size];
      while (rows.next()) {
        which[rows.getInt(1) - 1] = true;
      }
      return which;
    };
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
  public Answer<boolean[]> advance(Statements to, List<Step> steps) {
    return to.query(ADVANCE, values -> progress(values, steps), numbers(steps.size()));
  }

  @Override
  public Answer<boolean[]> replace(Statements to, List<Step> steps) {
    List<TimerRecord> after = after(steps);
    return to.query(
        REPLACE,
        values ->
            progress(values, steps)
                .longs(after, TimerRecord::version)
                .longs(after, TimerRecord::createdAt)
                .texts(after, record -> record.definition().handler())
                .bytes(after, Rows::spec)
                .bytes(after, record -> record.definition().payload()),
        numbers(steps.size()));
  }

  @Override
  public Answer<boolean[]> finish(Statements to, List<Step> steps) {
    List<TimerRecord> after = after(steps);
    return to.query(
        FINISH,
        values ->
            columns(readings(values, before(steps)), after)
                .bytes(after, record -> Rows.hash(record.definition().payload())),
        numbers(steps.size()));
  }

  @Override
  public Answer<FinishedOne> finishOne(Statements to, Step step, List<Count> counts, int shard) {
    TimerRecord before = step.before();
    TimerRecord after = step.after();
    return to.query(
        commits.returnsLog() ? FINISH_ONE : FINISH_ONE_WITHOUT_LOG,
        values ->
            PostgreSqlSharedRows.counts(
                    values
                        .text(before.key().namespace())
                        .text(before.key().id())
                        .number(before.version())
                        .number(before.revision())
                        .number(after.version() == before.version() ? 1 : 0)
                        .text(after.key().namespace())
                        .text(after.key().id())
                        .text(after.definition().handler())
                        .number(after.version())
                        .number(after.dueAt())
                        .number(after.createdAt())
                        .number(after.changedAt())
                        .number(after.revision())
                        .number(after.attempt())
                        .number(Rows.state(after))
                        .number(Rows.flags(after))
                        .bytes(Rows.spec(after))
                        .bytes(Rows.progress(after))
                        .bytes(Rows.hash(after.definition().payload())),
                    counts)
                .number(shard),
        rows -> {
          rows.next();
          boolean applied = rows.getLong(1) == 1;
          long epoch = rows.getLong(2);
          boolean isShard = !rows.wasNull();
          return new FinishedOne(
              applied, isShard ? epoch : null, Optional.ofNullable(rows.getString(3)));
        });
  }

  @Override
  public void insertFinished(Statements to, List<Finished> timers) {
    List<TimerRecord> records = timers.stream().map(Finished::record).toList();
    to.update(
        INSERT_DONE,
        values ->
            columns(
                    values
                        .texts(records, record -> record.key().namespace())
                        .texts(records, record -> record.key().id()),
                    records)
                .bytes(timers, Finished::payloadHash));
  }

  @Override
  public Answer<boolean[]> unfinish(Statements to, List<TimerRecord> records) {
    return to.query(DELETE_DONE, values -> readings(values, records), numbers(records.size()));
  }

  @Override
  public void addReady(Statements to, List<TimerRecord> records) {
    ready(
        to,
        "INSERT INTO %s (namespace, %s, ready_at, id)"
            + " SELECT * FROM unnest(?::text[], ?::text[], ?::bigint[], ?::text[])",
        records);
  }

  @Override
  public void removeReady(Statements to, List<TimerRecord> records) {
    ready(
        to,
        "DELETE FROM %1$s r USING unnest(?::text[], ?::text[], ?::bigint[], ?::text[])"
            + " AS k (namespace, %2$s, ready_at, id) WHERE r.namespace = k.namespace"
            + " AND r.%2$s = k.%2$s AND r.ready_at = k.ready_at AND r.id = k.id",
        records);
  }

  private static void ready(Statements to, String sql, List<TimerRecord> records) {
    readyIn(to, sql.formatted("timewheel_ready", "queue"), Rows.ofQueues(records));
    readyIn(to, sql.formatted("timewheel_handler_ready", "handler"), Rows.ofHandlers(records));
  }

  private static void readyIn(Statements to, String sql, List<TimerRecord> records) {
    if (records.isEmpty()) {
      return;
    }
    to.update(
        sql,
        values ->
            values
                .texts(records, record -> record.key().namespace())
                .texts(records, record -> record.definition().handler())
                .longs(records, TimerRecord::changedAt)
                .texts(records, record -> record.key().id()));
  }
}
