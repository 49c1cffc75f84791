// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import io.timewheel.durable.TimerState;
import io.timewheel.durable.jdbc.Statements.Answer;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreException.Kind;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
  private static final System.Logger LOG = System.getLogger(JdbcTimerStore.class.getName());
  private static final int LEAST_VERSION = 140_000;

  /** How a transaction begins in which nothing is planned or locked yet. */
  static final String ISOLATION = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED";

  /** What makes the planner take the indexes. */
  static final String PLANNER =
      """
      set_config('plan_cache_mode', 'force_generic_plan', true),
        set_config('enable_seqscan', 'off', true),
        set_config('enable_hashjoin', 'off', true),
        set_config('enable_mergejoin', 'off', true),
        set_config('enable_bitmapscan', 'off', true),
        set_config('jit', 'off', true)\
      """;

  /**
   * Sets the limits of a transaction that holds a fence, and reads {@link #FORMAT the format}. A
   * statement of the protocol takes its snapshot after its locks, so that one that has waited for a
   * switch reads what was switched to. EXECUTE, in SQL, does not.
   *
   * @param more another column
   */
  private static String limits(String lockTimeout, String more) {
    return "SELECT set_config('lock_timeout', '"
        + lockTimeout
        + "', true), set_config('idle_in_transaction_session_timeout', '2s', true), "
        + PLANNER
        + ", value, "
        + more
        + Formats.IN_USE;
  }

  private static final int FORMAT = 9;

  /** The number of the transaction; null if it has none. */
  private static final String NUMBER = "pg_current_xact_id_if_assigned()";

  private static final String LOCK_LIMIT = "100ms";

  /** The least limit: 0 would be none. */
  private static final String LEAST_LOCK_LIMIT = "1ms";

  private static final String BEGIN = limits(LOCK_LIMIT, "0");

  private static final String BEGIN_WITH_VERSIONS =
      limits(LOCK_LIMIT, "nextval('timewheel_version')");

  /** Longer than for a group, since an effect is at stake; but no deadlock lasts as long. */
  private static final String END_HANDLER = limits("500ms", NUMBER + "::text");

  /** The timeline, which a promotion begins. */
  private static final String TIMELINE = "left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)";

  private static final String STATUS =
      """
      WITH i AS (SELECT ?::xid8 AS id, ?::pg_lsn AS written, ?::pg_lsn AS replayed_then,
          ?::text AS timeline, pg_last_wal_replay_lsn() AS replayed)
      SELECT CASE
        WHEN pg_is_in_recovery() THEN 'in progress'
        WHEN replayed < written AND (replayed <> replayed_then OR TIMELINE <> timeline)
          THEN 'aborted'
        WHEN replayed IS NULL AND TIMELINE <> timeline THEN 'in progress'
        ELSE pg_xact_status(id) END FROM i\
      """
          .replace("TIMELINE", TIMELINE);

  private static final String STATUS_WITHOUT_LOG =
      "SELECT CASE WHEN pg_is_in_recovery() THEN 'in progress' ELSE pg_xact_status(?::xid8) END";

  /** Not {@code now()}, which is when the transaction began. */
  static final String NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

  private final Formats formats;

  /** Whether it says where its log is; some that are managed for their users do not. */
  private volatile boolean tellsLog = true;

  PostgreSql(Formats formats) {
    this.formats = formats;
  }

  @Override
  public Formats formats() {
    return formats;
  }

  @Override
  public String resource() {
    return "postgresql";
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
    tellsLog = tellsLog(connection);
  }

  private static boolean tellsLog(Connection connection) throws SQLException {
    try {
      execute(connection, "SELECT pg_last_wal_replay_lsn(), pg_current_wal_insert_lsn()");
      return true;
    } catch (SQLException e) {
      if (Set.of("0A000", "42501", "42883").contains(state(e))) {
        LOG.log(
            System.Logger.Level.WARNING,
            "the database does not say where its log is ({0}): what a failover loses may go"
                + " unnoticed",
            e.getMessage());
        return false;
      }
      throw e;
    }
  }

  /** What others have done until then is seen. */
  @Override
  public void lockSchema(Connection connection) throws SQLException {
    execute(
        connection, ISOLATION + ";\nSELECT pg_advisory_xact_lock(hashtext('timewheel_schema'))");
  }

  /** Whoever begins meanwhile waits, too: so not for long. */
  @Override
  public List<String> alone(String statement) {
    return List.of(
        "SET LOCAL lock_timeout = '100ms';",
        "LOCK TABLE timewheel_meta IN ACCESS EXCLUSIVE MODE;",
        statement);
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

  /**
   * Sets the limits under which what a handler has done is committed.
   *
   * @param begun the number of its transaction
   * @return whether it is still that one
   */
  Answer<Boolean> endHandler(Statements to, String begun) {
    return to.query(
        END_HANDLER,
        none -> {},
        rows -> {
          rows.next();
          formats.found(rows.getLong(FORMAT));
          return begun.equals(rows.getString(FORMAT + 1));
        });
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
  public boolean isReadOnly(SQLException failure) {
    return state(failure).equals("25006");
  }

  @Override
  public boolean isHeldUp(SQLException failure) {
    return state(failure).equals("55P03");
  }

  @Override
  public boolean isThere(SQLException failure) {
    return state(failure).equals("23505");
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
    try (Statements to = new Statements(connection)) {
      return transactionId(to).get().orElse(null);
    }
  }

  /** The number of the transaction, and what {@link #isCommitted} judges it by. */
  @Override
  public Answer<Optional<String>> transactionId(Statements to) {
    return to.query(
        "SELECT "
            + NUMBER
            + (tellsLog
                ? " || '@' || pg_current_wal_insert_lsn()"
                    + " || '@' || coalesce(pg_last_wal_replay_lsn(), '0/0') || '@' || "
                    + TIMELINE
                : "::text"),
        none -> {},
        rows -> {
          rows.next();
          return Optional.ofNullable(rows.getString(1));
        });
  }

  /**
   * A server that recovers from a crash, or is promoted, gives the numbers of transactions that it
   * has lost to others. It has lost this one, if it has recovered since, and not up to where the
   * log was before the COMMIT; if it has got so far, it knows the number. A standby may still get
   * to know of it. A clean restart forgets where the recovery ended: after a promotion, which the
   * timeline tells, nobody knows then; after a crash, or if there were two, the number is believed.
   */
  @Override
  public @Nullable Boolean isCommitted(Connection connection, String transactionId)
      throws SQLException {
    String[] parts = transactionId.split("@", 4);
    try (PreparedStatement statement =
        connection.prepareStatement(parts.length == 1 ? STATUS_WITHOUT_LOG : STATUS)) {
      for (int i = 0; i < parts.length; i++) {
        statement.setString(i + 1, parts[i]);
      }
      try (ResultSet rows = statement.executeQuery()) {
        rows.next();
        String status = rows.getString(1);
        boolean isKnown = status != null && !status.equals("in progress"); // null: long ago
        return isKnown ? Boolean.valueOf("committed".equals(status)) : null;
      }
    } catch (SQLException e) {
      if (state(e).equals("22023")) {
        return false; // in the future: a server that has crashed since never got to know of it
      }
      throw e;
    }
  }

  @Override
  public void touch(Connection connection) throws SQLException {
    execute(connection, "SELECT pg_logical_emit_message(true, 'timewheel', '')");
  }

  // A group

  @Override
  public Answer<Long> begin(Statements to, boolean wantsVersions) {
    to.update(ISOLATION, none -> {});
    return to.query(
        wantsVersions ? BEGIN_WITH_VERSIONS : BEGIN,
        none -> {},
        rows -> {
          rows.next();
          formats.found(rows.getLong(FORMAT));
          return rows.getLong(FORMAT + 1);
        });
  }

  /**
   * LOCK takes no snapshot. So what others commit while it waits is seen, and no part of the
   * history is emptied behind the snapshot, since TRUNCATE has no regard for those.
   */
  @Override
  public void beginSnapshot(Connection connection, boolean alone) throws SQLException {
    execute(
        connection,
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SET LOCAL statement_timeout = 0;"
            + " SET LOCAL idle_in_transaction_session_timeout = 0;"
            + " LOCK TABLE timewheel_done IN ACCESS SHARE MODE");
    if (alone) {
      // Longer than an autovacuum holds it against a waiting transaction.
      execute(
          connection,
          "SET LOCAL lock_timeout = '2s';"
              + " LOCK TABLE timewheel_count IN SHARE UPDATE EXCLUSIVE MODE;"
              + " SET LOCAL lock_timeout = DEFAULT");
    }
  }

  @Override
  public void waitForLocks(Statements to, boolean wait) {
    to.update(
        "SET LOCAL lock_timeout = '" + (wait ? LOCK_LIMIT : LEAST_LOCK_LIMIT) + "'", none -> {});
  }

  @Override
  public Answer<Set<String>> holdPauses(Statements to) {
    return to.query("SELECT scope FROM timewheel_pause FOR SHARE", none -> {}, Queries::scopes);
  }

  @Override
  public void count(Statements to, Map<String, Map<TimerState, Long>> deltas) {
    List<Queries.Count> rows = Queries.countRows(deltas);
    to.update(
        "INSERT INTO timewheel_count"
            + " SELECT * FROM unnest(?::text[], ?::integer[], ?::bigint[])",
        values ->
            values
                .texts(rows, Queries.Count::namespace)
                .ints(rows, row -> Codes.STATES.of(row.state()))
                .longs(rows, Queries.Count::number));
  }

  @Override
  public Answer<Map<Integer, Long>> holdEpochs(Statements to, List<Integer> shards) {
    return to.query(
        "SELECT shard, epoch FROM timewheel_shard WHERE shard = ANY (?::integer[])"
            + " ORDER BY shard FOR SHARE",
        values -> values.ints(shards, shard -> shard),
        Queries::epochs);
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
  public void hint(Statements to, String channel, String text) {
    Answer<Boolean> unused =
        to.query(
            "SELECT pg_notify(?, ?)", values -> values.text(channel).text(text), ResultSet::next);
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
  public Records records() {
    return new PostgreSqlRecords();
  }

  @Override
  public Queries queries() {
    return new PostgreSqlQueries();
  }

  @Override
  public UserTransactions userTransactions() {
    return new PostgreSqlUserTransactions(this);
  }

  @Override
  public String nowMillis() {
    return NOW;
  }

  @Override
  public String writingServer() {
    return tellsLog ? TIMELINE : "''";
  }

  @Override
  public String nextIncarnation() {
    return "nextval('timewheel_incarnation')";
  }
}
