// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.TimerKey;
import io.timewheel.durable.TimerState;
import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreException.Kind;
import io.timewheel.durable.spi.TimerRecord;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/**
 * PostgreSQL, 14 or newer. Rows are sent as arrays, one for each column. In a group a join of
 * {@code unnest} with a table is a nested loop over an index, whatever is in the table: a plan that
 * a session has made while the table was empty is kept when it is large. What is "off" only looks
 * dear to the planner, which must not take that for a reason to compile the plan for seconds.
 */
final class PostgreSql implements Dialect {
  private static final int LEAST_VERSION = 140_000;

  /** How a transaction begins in which nothing is planned or locked yet. */
  static final String ISOLATION = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED;\n";

  /** What makes the planner take the indexes. */
  static final String PLANNER =
      """
      set_config('plan_cache_mode', 'force_generic_plan', true),
        set_config('enable_seqscan', 'off', true),
        set_config('enable_hashjoin', 'off', true),
        set_config('enable_mergejoin', 'off', true),
        set_config('jit', 'off', true)\
      """;

  /** The limits of a transaction that holds a fence. */
  static String limits(String lockTimeout) {
    return "SELECT set_config('lock_timeout', '"
        + lockTimeout
        + "', true), set_config('idle_in_transaction_session_timeout', '2s', true), "
        + PLANNER;
  }

  private static final String BEGIN = ISOLATION + limits("100ms");

  /** Not {@code now()}, which is when the transaction began. */
  static final String NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

  private static final String COLUMNS =
      "t.namespace, t.id, t.version, t.revision, t.state, t.flags, t.due_at, t.created_at,"
          + " t.changed_at, t.attempt, t.handler, t.spec, t.progress";
  static final String TIMER_COLUMNS = COLUMNS + ", t.fire_at, t.payload";
  static final String DONE_COLUMNS = COLUMNS + ", NULL::bigint AS fire_at, ''::bytea AS payload";

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

  static final String NOT_FORGOTTEN =
      "(t.changed_at, t.namespace, t.id)"
          + " > (h.forgotten_at, h.forgotten_namespace, h.forgotten_id)";

  // Locked in the order of the keys, whatever the plan: the sort comes before the locks.
  static final String LOCK =
      "SELECT "
          + TIMER_COLUMNS
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
          + " WHERE d.namespace = k.namespace AND d.id = k.id OFFSET 0) t"
          + " CROSS JOIN timewheel_history h WHERE "
          + NOT_FORGOTTEN;

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

  @Override
  public List<String> migration(int format) {
    String name = "postgresql-" + format + ".sql";
    try (InputStream in = requireNonNull(PostgreSql.class.getResourceAsStream(name), name)) {
      String all = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      return List.of(all.split("(?<=;)\n", -1));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void check(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery(
                "SELECT current_setting('server_encoding'),"
                    + " current_setting('server_version_num')::integer")) {
      rows.next();
      if (!rows.getString(1).equals("UTF8")) {
        throw new StoreException(
            Kind.UNAVAILABLE,
            "the encoding of the database is " + rows.getString(1) + " (expected: UTF8)",
            null);
      }
      if (rows.getInt(2) < LEAST_VERSION) {
        throw new StoreException(
            Kind.UNAVAILABLE,
            "the database is PostgreSQL "
                + rows.getInt(2) / 10_000
                + " (expected: at least "
                + LEAST_VERSION / 10_000
                + ")",
            null);
      }
    }
  }

  @Override
  public void lockSchema(Connection connection) throws SQLException {
    execute(connection, "SELECT pg_advisory_xact_lock(hashtext('timewheel_schema'))");
  }

  @Override
  public boolean hasSchema(Connection connection) throws SQLException {
    // With a table in it: otherwise the session may not have heard of what others have made.
    try (Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery(
                "SELECT count(*) FROM pg_class WHERE oid = to_regclass('timewheel_meta')")) {
      rows.next();
      return rows.getInt(1) == 1;
    }
  }

  static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  // Failures

  @Override
  public Kind kind(SQLException failure) {
    String state = state(failure);
    return switch (state.substring(0, 2)) {
      case "22", "23", "54" -> Kind.REJECTED;
      case "08", "40", "57", "55" -> Kind.TRANSIENT;
      default -> state.equals("53300") || state.equals("25P03") ? Kind.TRANSIENT : Kind.UNAVAILABLE;
    };
  }

  @Override
  public boolean mayGoWellNextTime(SQLException failure) {
    String state = state(failure);
    return state.startsWith("40")
        || state.startsWith("08")
        || Set.of("55P03", "57P01", "57P02", "57P03", "57P05", "25P03").contains(state);
  }

  @Override
  public boolean isHeldUp(SQLException failure) {
    return state(failure).equals("55P03");
  }

  /** The queue of notifications may be full, which only COMMIT finds out. */
  @Override
  public boolean mayBeForItsHint(SQLException failure) {
    return state(failure).equals("54000");
  }

  static String state(SQLException failure) {
    String state = failure.getSQLState();
    return state == null || state.length() != 5 ? "XX000" : state;
  }

  @Override
  public @Nullable String transactionId(Connection connection) throws SQLException {
    try (PreparedStatement statement =
            connection.prepareStatement("SELECT pg_current_xact_id_if_assigned()::text");
        ResultSet rows = statement.executeQuery()) {
      rows.next();
      return rows.getString(1);
    }
  }

  @Override
  public @Nullable Boolean isCommitted(Connection connection, String transactionId)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement("SELECT pg_xact_status(?::xid8)")) {
      statement.setString(1, transactionId);
      try (ResultSet rows = statement.executeQuery()) {
        rows.next();
        String status = rows.getString(1);
        return "in progress".equals(status) ? null : Boolean.valueOf("committed".equals(status));
      }
    } catch (SQLException e) {
      if (state(e).equals("22023")) {
        return false; // in the future: a server that has crashed since never got to know of it
      }
      throw e;
    }
  }

  // A group

  @Override
  public long begin(Connection connection, boolean wantsVersions) throws SQLException {
    String sql = wantsVersions ? BEGIN + ", nextval('timewheel_version')" : BEGIN + ", 0";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.execute();
      statement.getMoreResults();
      try (ResultSet rows = statement.getResultSet()) {
        rows.next();
        return rows.getLong(8);
      }
    }
  }

  @Override
  public Set<String> holdPauses(Connection connection) throws SQLException {
    return scopes(connection, "SELECT scope FROM timewheel_pause FOR SHARE");
  }

  static Set<String> scopes(Connection connection, String sql) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql);
        ResultSet rows = statement.executeQuery()) {
      Set<String> scopes = new HashSet<>();
      while (rows.next()) {
        scopes.add(rows.getString(1));
      }
      return scopes;
    }
  }

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
  public Map<TimerKey, TimerRecord> lock(
      Connection connection, List<TimerKey> keys, boolean passOver) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(passOver ? LOCK + " SKIP LOCKED" : LOCK)) {
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
    List<TimerRecord> finished = new ArrayList<>(steps.size());
    for (int i = 0; i < gone.length; i++) {
      if (gone[i]) {
        finished.add(steps.get(i).after());
      }
    }
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

  private record Delta(String namespace, TimerState state, long delta) {}

  @Override
  public void count(Connection connection, Map<String, Map<TimerState, Long>> deltas)
      throws SQLException {
    List<Delta> rows = new ArrayList<>();
    deltas.forEach(
        (namespace, states) ->
            states.forEach((state, delta) -> rows.add(new Delta(namespace, state, delta))));
    try (PreparedStatement statement =
        connection.prepareStatement(
            "INSERT INTO timewheel_count"
                + " SELECT * FROM unnest(?::text[], ?::integer[], ?::bigint[])")) {
      new Parameters(connection, statement)
          .texts(rows, Delta::namespace)
          .ints(rows, row -> Codes.STATES.of(row.state()))
          .longs(rows, Delta::delta);
      statement.executeUpdate();
    }
  }

  @Override
  public Map<Integer, Long> holdEpochs(Connection connection, List<Integer> shards)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "SELECT shard, epoch FROM timewheel_shard WHERE shard = ANY (?::integer[])"
                + " ORDER BY shard FOR SHARE")) {
      new Parameters(connection, statement).ints(shards, shard -> shard);
      try (ResultSet rows = statement.executeQuery()) {
        Map<Integer, Long> epochs = new HashMap<>();
        while (rows.next()) {
          epochs.put(rows.getInt(1), rows.getLong(2));
        }
        return epochs;
      }
    }
  }

  // Hints

  @Override
  public String hintChannel(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery("SELECT 'timewheel_' || left(md5(current_schema()), 16)")) {
      rows.next();
      return rows.getString(1);
    }
  }

  @Override
  public void hint(Connection connection, String channel, String text) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement("SELECT pg_notify(?, ?)")) {
      statement.setString(1, channel);
      statement.setString(2, text);
      statement.execute();
    }
  }

  @Override
  public void listen(Connection connection, String channel) throws SQLException {
    execute(connection, "LISTEN " + channel);
  }

  @Override
  public void unlisten(Connection connection, String channel) throws SQLException {
    execute(connection, "UNLISTEN " + channel);
  }

  @Override
  public List<String> hints(Connection connection, int timeoutMillis) throws SQLException {
    List<String> hints = new ArrayList<>();
    for (PGNotification notification :
        connection.unwrap(PGConnection.class).getNotifications(timeoutMillis)) {
      hints.add(notification.getParameter());
    }
    return hints;
  }

  @Override
  public Queries queries() {
    return new PostgreSqlQueries();
  }

  @Override
  public UserTransactions userTransactions() {
    return new PostgreSqlUserTransactions();
  }

  @Override
  public String nowMillis() {
    return NOW;
  }
}
