// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.postgresql;

import io.timewheel.durable.jdbc.internal.rows.Formats;
import io.timewheel.durable.jdbc.internal.rows.Rows;
import io.timewheel.durable.jdbc.internal.server.DirectInserts;
import io.timewheel.durable.jdbc.internal.sql.Parameters;
import io.timewheel.durable.jdbc.internal.sql.Sql;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.Scopes;
import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.batch.StateCounts;
import io.timewheel.durable.spi.batch.StateCounts.Count;
import io.timewheel.durable.spi.format.Codes;
import io.timewheel.durable.spi.record.TimerRecord;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.postgresql.PGConnection;

/**
 * Inserts new timers directly on PostgreSQL, which executes all statements before a Sync message of
 * its protocol as one transaction.
 *
 * <p>The first statement limits the waits for locks. A later one would be too late: PostgreSQL
 * locks the tables of a statement before it executes any part of it. The second statement inserts.
 * It waits for any transaction that is just finishing the same timer. The third one reads the
 * history, with a snapshot taken after that wait. A timer in the history fails the transaction,
 * which costs less than a removal of the new row. A single timer that exists is not inserted. If
 * one of several exists, the transaction fails.
 *
 * <p>The PostgreSQL driver sends a Sync between two statements if one of them may return columns of
 * variable length. So all columns of these statements have a fixed length.
 */
final class PostgreSqlDirectInserts implements DirectInserts {
  private static final String INSUFFICIENT_PRIVILEGE = "42501";
  private static final String UNIQUE_VIOLATION = "23505";
  private static final String INVALID_TEXT = "22P02"; // the history contains the timer

  /** The number of rows of a list, in the order of the keys, that contain its token. */
  private static final int ROWS_WITH_TOKEN = 8;

  private static final String READ_COMMITTED =
      "current_setting('transaction_isolation') = 'read committed'";

  /**
   * True if this statement runs in the transaction that executed {@link #BEGIN}. The setting is
   * empty outside it, unlike the lock timeout, which a user may set to the same value.
   */
  private static final String SAME = "current_setting('timewheel.direct', true) = 'on'";

  /** Makes the planner find timers by their keys, regardless of the tables' statistics. */
  private static final String SETTINGS =
      """
      set_config('plan_cache_mode', 'force_generic_plan', true),
        set_config('enable_seqscan', 'off', true),
        set_config('jit', 'off', true)\
      """;

  /** The first statement, which locks no table. It returns whether the isolation is as expected. */
  private static final String BEGIN =
      "SELECT "
          + READ_COMMITTED
          + ", set_config('timewheel.direct', 'on', true) <> ''"
          + ", set_config('lock_timeout', '"
          + PostgreSqlTransactions.LOCK_LIMIT
          + "', true) <> ''";

  private static final String COLUMNS =
      PostgreSqlRecords.COLUMNS + ", fire_at, shard, payload, token";

  private static final int STATE = Codes.STATES.of(TimerState.SCHEDULED);

  private static final String LOOK_FOR_ONE =
      look("timewheel_done d WHERE d.namespace = ?::text AND d.id = ?::text");

  private static final String LOOK_FOR_ALL =
      look(
          IntStream.range(0, PostgreSqlHistory.PARTS)
              .mapToObj(PostgreSqlDirectInserts::lookInPart)
              .collect(
                  Collectors.joining(
                      " UNION ALL ",
                      PostgreSqlRecords.rows("namespace text, id text") + " CROSS JOIN LATERAL (",
                      " OFFSET 0) d")));

  private static final String FIND =
      "SELECT NOT pg_is_in_recovery(), h.forgotten_at, t.n, t.version,"
          + " t.token IS NOT DISTINCT FROM ?::bigint"
          + " FROM timewheel_history h LEFT JOIN ("
          + find("timewheel_timer")
          + " UNION ALL "
          + find("timewheel_done")
          + ") t ON true";

  private final Formats formats;
  private volatile boolean knowsSessions;
  private final String insertOne;
  private final String insertOneOfQueue;
  private final String insertAll;

  PostgreSqlDirectInserts(Formats formats) {
    this.formats = formats;
    insertOne = insertOne("(?::text)");
    insertOneOfQueue = insertOne("(?::text), (?::text)");
    insertAll =
        insert(
            "INSERT INTO timewheel_timer ("
                + COLUMNS
                + ") SELECT namespace, id, handler, f.version + k.n, due_at, NULL,"
                + " changed_at, 0, 0, "
                + STATE
                + ", flags, spec, NULL, NULLIF(fire_at, 9223372036854775807), shard, payload,"
                + " CASE WHEN k.n < "
                + ROWS_WITH_TOKEN
                + " THEN ?::bigint END FROM f, "
                + PostgreSqlRecords.rows(
                    """
                    namespace text, id text, handler text, n bigint, due_at bigint, \
                    changed_at bigint, flags integer, spec bytea, fire_at bigint, shard integer, \
                    payload bytea\
                    """)
                + " WHERE f.fits",
            "SELECT c.* FROM f, "
                + PostgreSqlRecords.rows("scope text, state integer, delta bigint")
                    .replace(") k", ") c")
                + " WHERE f.fits",
            "fits::integer");
  }

  private String insertOne(String scopes) {
    return insert(
        "INSERT INTO timewheel_timer ("
            + COLUMNS
            + ") SELECT ?::text, ?::text, ?::text, version, ?::bigint, NULL, ?::bigint, 0, 0, "
            + STATE
            + ", ?::bigint, ?::bytea, NULL, ?::bigint, ?::bigint, ?::bytea, ?::bigint"
            + " FROM f WHERE fits ON CONFLICT DO NOTHING RETURNING 1",
        "SELECT scope, " + STATE + ", 1 FROM made, (VALUES " + scopes + ") c (scope)",
        "(SELECT count(*) FROM made)");
  }

  /** Returns the insert. It reads the format first, which locks it until the transaction ends. */
  private String insert(String timers, String counts, String inserted) {
    return "WITH f AS (SELECT value, nextval('timewheel_version') AS version, value BETWEEN "
        + formats.oldest()
        + " AND "
        + formats.newest()
        + " AND "
        + READ_COMMITTED
        + " AS fits, "
        + SETTINGS
        + Formats.IN_USE
        + "), made AS ("
        + timers
        + "), counted AS (INSERT INTO timewheel_count "
        + counts
        + ") SELECT value, version, fits, "
        + inserted
        + " FROM f";
  }

  /**
   * Returns a query that fails if a timer is in the history, since the text is no number. This
   * costs less than a removal of the new row.
   */
  private static String look(String history) {
    return "SELECT (SELECT 'no error: the timer is in the history, and Timewheel will insert it in"
        + " a transaction' FROM "
        + history
        + " LIMIT 1)::integer, "
        + SAME;
  }

  /** Returns a lookup in a part of the history. It checks once whether the part is empty. */
  private static String lookInPart(int part) {
    String table = "timewheel_done_" + part;
    return "SELECT FROM "
        + table
        + " d WHERE d.namespace = k.namespace AND d.id = k.id AND (SELECT EXISTS (SELECT FROM "
        + table
        + "))";
  }

  private static String find(String table) {
    return "SELECT k.n, t.version, t.token FROM "
        + table
        + " t JOIN "
        + PostgreSqlRecords.rows("namespace text, id text, n integer")
        + " ON t.namespace = k.namespace AND t.id = k.id";
  }

  @Override
  public boolean isPossible(Connection connection) throws SQLException {
    try (Statements to = new Statements(connection)) {
      Statements.Answer<Boolean> first = begin(to);
      Statements.Answer<Boolean> second =
          to.query("SELECT " + SAME, none -> {}, rows -> rows.next() && rows.getBoolean(1));
      boolean possible = first.get() && second.get();
      knowsSessions = Sql.number(connection, "SELECT pg_backend_pid()") == backend(connection);
      return possible;
    }
  }

  private static Statements.Answer<Boolean> begin(Statements to) {
    return to.query(BEGIN, none -> {}, rows -> rows.next() && rows.getBoolean(1));
  }

  private static int backend(Connection connection) throws SQLException {
    return connection.isWrapperFor(PGConnection.class)
        ? connection.unwrap(PGConnection.class).getBackendPID()
        : 0;
  }

  /** Returns the process ID of the server session. A pooler returns an ID of its own. */
  @Override
  public int session(Connection connection) throws SQLException {
    return knowsSessions ? backend(connection) : 0;
  }

  /**
   * Returns whether the session has ended. The result is false if another session has the same
   * process ID by now, or if the user may not read the sessions.
   */
  @Override
  public boolean hasEnded(Connection connection, int session) throws SQLException {
    if (session == 0 || !knowsSessions) {
      return false;
    }
    try (Statements to = new Statements(connection)) {
      Statements.Answer<Boolean> unused = begin(to);
      return to.query(
              "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = ?)",
              values -> values.number(session),
              rows -> rows.next() && rows.getBoolean(1))
          .get();
    } catch (SQLException e) {
      if (!PostgreSqlErrors.state(e).equals(INSUFFICIENT_PRIVILEGE)) {
        throw e;
      }
      knowsSessions = false;
      return false;
    }
  }

  @Override
  public Answer insert(
      Connection connection,
      List<TimerRecord> records,
      long token,
      int shards,
      Consumer<Statements> notification)
      throws SQLException {
    try (Statements to = new Statements(connection)) {
      Statements.Answer<Boolean> unused = begin(to);
      Statements.Answer<Answer> insert;
      String look;
      if (records.size() == 1) {
        List<String> scopes = Scopes.counting(records.get(0));
        insert =
            to.query(
                scopes.size() == 1 ? insertOne : insertOneOfQueue,
                values -> bind(values, records.get(0), token, shards, scopes),
                this::inserted);
        look = LOOK_FOR_ONE;
      } else {
        List<Count> counts = StateCounts.of(records).toList();
        insert =
            to.query(
                insertAll, values -> bind(values, records, token, shards, counts), this::inserted);
        look = LOOK_FOR_ALL;
      }
      Statements.Answer<Boolean> oneTransaction =
          to.query(
              look, values -> bindLook(values, records), rows -> rows.next() && rows.getBoolean(2));
      notification.accept(to);
      Answer made = insert.get();
      return oneTransaction.get() ? made : new Answer(made.firstVersion(), made.inserted(), false);
    }
  }

  private Answer inserted(ResultSet rows) throws SQLException {
    rows.next();
    formats.found(rows.getLong(1));
    return new Answer(rows.getLong(2), rows.getLong(4) > 0, rows.getBoolean(3));
  }

  private static void bind(
      Parameters to, TimerRecord record, long token, int shards, List<String> scopes)
      throws SQLException {
    to.text(record.key().namespace())
        .text(record.key().id())
        .text(record.definition().handler())
        .number(record.dueAt())
        .number(record.changedAt())
        .number(Rows.flags(record))
        .bytes(Rows.spec(record))
        .time(record.fireAt())
        .number(Shards.of(record.key(), shards))
        .bytes(record.definition().payload())
        .number(token);
    for (String scope : scopes) {
      to.text(scope);
    }
  }

  private static void bindLook(Parameters to, List<TimerRecord> records) throws SQLException {
    if (records.size() == 1) {
      TimerKey key = records.get(0).key();
      to.text(key.namespace()).text(key.id());
    } else {
      keys(to, records.stream().map(TimerRecord::key).toList());
    }
  }

  private static void bind(
      Parameters to, List<TimerRecord> records, long token, int shards, List<Count> counts)
      throws SQLException {
    long[] numbers = new long[1];
    to.number(token)
        .texts(records, record -> record.key().namespace())
        .texts(records, record -> record.key().id())
        .texts(records, record -> record.definition().handler())
        .longs(records, record -> numbers[0]++)
        .longs(records, TimerRecord::dueAt)
        .longs(records, TimerRecord::changedAt)
        .ints(records, Rows::flags)
        .bytes(records, Rows::spec)
        .longs(records, TimerRecord::fireAt)
        .ints(records, record -> Shards.of(record.key(), shards))
        .bytes(records, record -> record.definition().payload())
        .texts(counts, Count::scope)
        .ints(counts, count -> Codes.STATES.of(count.state()))
        .longs(counts, Count::number);
  }

  private static Parameters keys(Parameters to, List<TimerKey> keys) throws SQLException {
    return to.texts(keys, TimerKey::namespace).texts(keys, TimerKey::id);
  }

  @Override
  public boolean isNotNew(SQLException failure) {
    String state = PostgreSqlErrors.state(failure);
    return state.equals(UNIQUE_VIOLATION) || state.equals(INVALID_TEXT);
  }

  /**
   * Returns whether the insert may be committed. The server reports all other errors before it
   * commits. An administrator ends a session (57P01) between two messages, or in a statement. A
   * crash (57P02) may come between the commit and its answer.
   */
  @Override
  public boolean mayBeCommitted(SQLException failure) {
    String state = PostgreSqlErrors.state(failure);
    return state.startsWith("08")
        || state.startsWith("58")
        || state.startsWith("XX")
        || state.equals("57P02")
        || state.equals("40003");
  }

  @Override
  public Look look(Connection connection, List<TimerKey> keys, long token) throws SQLException {
    try (Statements to = new Statements(connection)) {
      Statements.Answer<Boolean> unused = begin(to);
      return to.query(
              FIND,
              values -> {
                values.number(token);
                keys(values, keys).numbers(keys.size());
                keys(values, keys).numbers(keys.size());
              },
              rows -> found(rows, keys))
          .get();
    }
  }

  private static Look found(ResultSet rows, List<TimerKey> keys) throws SQLException {
    List<Found> timers = new ArrayList<>();
    boolean isPrimary = false;
    long purgedUntil = 0;
    while (rows.next()) {
      isPrimary = rows.getBoolean(1);
      purgedUntil = rows.getLong(2);
      int n = rows.getInt(3);
      if (n > 0) { // 0 if the outer join found no row
        timers.add(new Found(keys.get(n - 1), rows.getLong(4), rows.getBoolean(5)));
      }
    }
    return new Look(isPrimary, purgedUntil, timers);
  }
}
