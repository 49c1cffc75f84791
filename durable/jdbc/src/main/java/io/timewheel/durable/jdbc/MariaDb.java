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
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * MariaDB, 10.11 or newer. It has no settings that end with a transaction: those of a session are
 * kept in variables, and given back when the transaction has ended. It has no notifications, and so
 * no hints. It cannot be asked what became of a transaction: each leaves a row, which is there if
 * it was committed, and locked while it is in progress.
 */
final class MariaDb implements Dialect {
  private static final int LEAST_MAJOR = 10;
  private static final int LEAST_MINOR = 11;

  /** Room for the largest statement: a megabyte and one timer, each byte of which may take two. */
  private static final long LEAST_PACKET = 4 << 20;

  private static final String SCHEMA_LOCK = "concat('timewheel.', md5(database()))";
  private static final int SCHEMA_SECONDS = 60;

  private static final int LOCK_WAIT_TIMEOUT = 1205;
  private static final int DEADLOCK = 1213;
  private static final int RECORD_CHANGED = 1020;
  private static final int PACKET_TOO_LARGE = 1153;

  /** A server that stops, a connection that was killed. */
  private static final Set<Integer> GONE = Set.of(1053, 1927);

  /** Too many connections, three kinds of that; a statement that was killed, or took too long. */
  private static final Set<Integer> BUSY = Set.of(1040, 1203, 1226, 1317, 1969);

  /** By a setting of the server, of the transaction, of the engine. */
  private static final Set<Integer> READ_ONLY = Set.of(1290, 1792, 1836);

  /** In UTC, since local times come twice in autumn. As it was when the statement began. */
  static final String NOW = "(timestampdiff(MICROSECOND, '1970-01-01', utc_timestamp(6)) DIV 1000)";

  /** What is kept and given back, with the isolation, which is no number. */
  private static final List<String> NUMBERS =
      List.of(
          "innodb_lock_wait_timeout",
          "idle_transaction_timeout",
          "idle_write_transaction_timeout",
          "idle_readonly_transaction_timeout");

  /** Of the limits for standing still, the general one holds where the others are 0. */
  private static final String KEEP =
      "SET @timewheel_isolation = coalesce(@timewheel_isolation, @@tx_isolation), "
          + each("@timewheel_%1$s = coalesce(@timewheel_%1$s, @@%1$s), ")
          + "SESSION tx_isolation = 'READ-COMMITTED', SESSION idle_write_transaction_timeout = 0,"
          + " SESSION idle_readonly_transaction_timeout = 0, ";

  /** The shortest wait for a lock is a second. */
  private static final String LIMITS = limits(1);

  private static String limits(int lockSeconds) {
    return "SESSION innodb_lock_wait_timeout = "
        + lockSeconds
        + ", SESSION idle_transaction_timeout = 2";
  }

  private static final String NEXT_VERSION = "nextval(timewheel_version)";

  private static final String END =
      "SET SESSION tx_isolation = coalesce(@timewheel_isolation, @@tx_isolation), "
          + each("SESSION %1$s = CAST(coalesce(@timewheel_%1$s, @@%1$s) AS SIGNED), ")
          + each("@timewheel_%1$s = NULL, ")
          + "@timewheel_isolation = NULL";

  /** The same for each number. */
  private static String each(String setting) {
    return NUMBERS.stream().map(setting::formatted).collect(Collectors.joining());
  }

  /** How the transaction of a handler begins, which waits for locks as long as the user likes. */
  static void beginHandler(Connection connection, long idleMillis) throws SQLException {
    execute(connection, KEEP + "SESSION idle_transaction_timeout = " + idleMillis / 1_000);
  }

  static void limit(Connection connection) throws SQLException {
    execute(connection, "SET " + LIMITS);
  }

  private final Formats formats;

  MariaDb(Formats formats) {
    this.formats = formats;
  }

  @Override
  public Formats formats() {
    return formats;
  }

  @Override
  public String resource() {
    return "mariadb";
  }

  @Override
  public void check(Connection connection) throws SQLException {
    String version = text(connection, "SELECT version()");
    String[] parts = version.split("[.-]", 3);
    if (!version.contains("MariaDB")) {
      throw new StoreException(
          Kind.UNAVAILABLE, "the database is MySQL " + version + " (expected: MariaDB)", null);
    }
    int major = Integer.parseInt(parts[0]);
    int minor = Integer.parseInt(parts[1]);
    if (major < LEAST_MAJOR || (major == LEAST_MAJOR && minor < LEAST_MINOR)) {
      throw new StoreException(
          Kind.UNAVAILABLE,
          "the database is MariaDB %d.%d (expected: at least %d.%d)"
              .formatted(major, minor, LEAST_MAJOR, LEAST_MINOR),
          null);
    }
    long packet = number(connection, "SELECT @@max_allowed_packet");
    if (packet < LEAST_PACKET) {
      throw new StoreException(
          Kind.UNAVAILABLE,
          "max_allowed_packet of the database is %,d (expected: at least %,d)"
              .formatted(packet, LEAST_PACKET),
          null);
    }
  }

  static String text(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return String.valueOf(rows.getString(1));
    }
  }

  static long number(Connection connection, String sql) throws SQLException {
    return Long.parseLong(text(connection, sql));
  }

  /** {@return the places of so many values} */
  static String marks(int count) {
    return "?" + ", ?".repeat(count - 1);
  }

  static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  @Override
  public void lockSchema(Connection connection) throws SQLException {
    String lock = "SELECT get_lock(" + SCHEMA_LOCK + ", " + SCHEMA_SECONDS + ")";
    if (number(connection, lock) != 1) {
      throw new StoreException(
          Kind.TRANSIENT, "another node has been making the tables for a minute", null);
    }
  }

  @Override
  public void unlockSchema(Connection connection) throws SQLException {
    connection.rollback();
    execute(connection, "UNLOCK TABLES");
    execute(connection, "DO release_lock(" + SCHEMA_LOCK + ")");
  }

  /** Whoever begins meanwhile waits, too: so not for long, which is a second at least. */
  @Override
  public List<String> alone(String statement) {
    return List.of(
        "LOCK TABLES timewheel_meta WRITE, timewheel_node READ WAIT 1;",
        statement,
        "UNLOCK TABLES;");
  }

  /** The tables without rows are those that nobody has made to the end. */
  @Override
  public boolean hasSchema(Connection connection) throws SQLException {
    String tables =
        "SELECT count(*) FROM information_schema.tables"
            + " WHERE table_schema = database() AND table_name = 'timewheel_meta'";
    return number(connection, tables) > 0
        && number(connection, "SELECT count(*) FROM timewheel_meta") > 0;
  }

  // Failures

  @Override
  public Kind kind(SQLException failure) {
    if (mayGoWellNextTime(failure) || BUSY.contains(code(failure))) {
      return Kind.TRANSIENT;
    }
    String state = state(failure);
    return state.startsWith("22") || state.startsWith("23") || code(failure) == PACKET_TOO_LARGE
        ? Kind.REJECTED
        : Kind.UNAVAILABLE;
  }

  @Override
  public boolean mayGoWellNextTime(SQLException failure) {
    int code = code(failure);
    return code == DEADLOCK
        || code == LOCK_WAIT_TIMEOUT
        || code == RECORD_CHANGED
        || GONE.contains(code)
        || (state(failure).startsWith("08") && code != PACKET_TOO_LARGE && !BUSY.contains(code));
  }

  @Override
  public boolean isReadOnly(SQLException failure) {
    return READ_ONLY.contains(code(failure));
  }

  @Override
  public boolean isHeldUp(SQLException failure) {
    return code(failure) == LOCK_WAIT_TIMEOUT;
  }

  @Override
  public boolean waitsBriefly() {
    return false;
  }

  /** The number of a failure; that of a batch may be in its cause. */
  static int code(SQLException failure) {
    return failure.getErrorCode() == 0 && failure.getCause() instanceof SQLException cause
        ? cause.getErrorCode()
        : failure.getErrorCode();
  }

  private static String state(SQLException failure) {
    String state = failure.getSQLState();
    return state == null ? "" : state;
  }

  // A commit

  /** Leaves a row, if anything was looked at or written. */
  @Override
  public @Nullable String transactionId(Connection connection) throws SQLException {
    if (number(connection, "SELECT @@in_transaction") == 0) {
      return null;
    }
    long id = ThreadLocalRandom.current().nextLong();
    String insert =
        "INSERT INTO timewheel_commit (made_at, id) VALUES ("
            + NOW
            + ", "
            + id
            + ") RETURNING concat(made_at, '/', id)";
    return text(connection, insert);
  }

  @Override
  public @Nullable Boolean isCommitted(Connection connection, String transactionId)
      throws SQLException {
    String[] parts = transactionId.split("/", 2);
    String look =
        "SELECT count(*) FROM timewheel_commit WHERE made_at = "
            + parts[0]
            + " AND id = "
            + parts[1]
            + " LOCK IN SHARE MODE NOWAIT";
    try {
      if (number(connection, look) == 1) {
        return true;
      }
    } catch (SQLException e) {
      if (isHeldUp(e)) {
        return null;
      }
      throw e;
    }
    // Later than that, the row may have been there; a standby may still get it.
    String isRecent =
        "SELECT @@read_only IN ('0', 'OFF') AND "
            + NOW
            + " - "
            + parts[0]
            + " < "
            + MariaDbQueries.COMMITS_MILLIS / 2;
    return number(connection, isRecent) == 1 ? Boolean.FALSE : null;
  }

  // A group

  @Override
  public Answer<Long> begin(Statements to, boolean wantsVersions) throws SQLException {
    return begin(to, LIMITS, wantsVersions);
  }

  /** A group waits for no lock: its other timers, and the groups behind it, would wait, too. */
  @Override
  public Answer<Long> beginGroup(Statements to, boolean wantsVersions) throws SQLException {
    return begin(to, limits(0), wantsVersions);
  }

  /** In one round trip. */
  private Answer<Long> begin(Statements to, String limits, boolean wantsVersions)
      throws SQLException {
    String version = wantsVersions ? NEXT_VERSION : "0";
    String sql =
        "BEGIN NOT ATOMIC %s%s; SELECT value, %s%s; END"
            .formatted(KEEP, limits, version, Formats.IN_USE);
    try (Statement statement = to.connection().createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      formats.found(rows.getLong(1));
      long first = rows.getLong(2);
      return () -> first;
    }
  }

  /** A read that locks takes no snapshot: what others commit while it waits is seen. */
  @Override
  public void beginSnapshot(Connection connection, boolean alone) throws SQLException {
    execute(connection, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
    if (alone) {
      execute(
          connection, "SELECT value FROM timewheel_meta WHERE name = 'identity' FOR UPDATE WAIT 2");
    }
  }

  static long nextVersion(Connection connection) throws SQLException {
    return number(connection, "SELECT " + NEXT_VERSION);
  }

  @Override
  public void end(Connection connection) throws SQLException {
    execute(connection, END);
  }

  @Override
  public Answer<Set<String>> holdPauses(Statements to) throws SQLException {
    // The row stands for all pauses that are not there yet, and cannot be locked.
    Set<String> scopes =
        Queries.scopes(
            to.connection(),
            "SELECT p.scope FROM timewheel_meta m LEFT JOIN timewheel_pause p ON TRUE"
                + " WHERE m.name = 'pauses' "
                + forShare());
    return () -> scopes;
  }

  @Override
  public void count(Statements to, Map<String, Map<TimerState, Long>> deltas) throws SQLException {
    insertCounts(to.connection(), deltas);
  }

  static void insertCounts(Connection connection, Map<String, Map<TimerState, Long>> deltas)
      throws SQLException {
    MariaDbRecords.insert(
        connection,
        "INSERT INTO timewheel_count (namespace, state, delta)",
        3,
        Queries.countRows(deltas),
        (to, row) ->
            to.text(row.namespace()).number(Codes.STATES.of(row.state())).number(row.number()));
  }

  @Override
  public Answer<Map<Integer, Long>> holdEpochs(Statements to, List<Integer> shards)
      throws SQLException {
    String sql =
        "SELECT shard, epoch FROM timewheel_shard FORCE INDEX (PRIMARY) WHERE shard IN ("
            + marks(shards.size())
            + ") ORDER BY shard "
            + forShare();
    try (PreparedStatement statement = to.connection().prepareStatement(sql)) {
      Parameters values = new Parameters(to.connection(), statement);
      for (int shard : shards) {
        values.number(shard);
      }
      try (ResultSet rows = statement.executeQuery()) {
        Map<Integer, Long> epochs = Queries.epochs(rows);
        return () -> epochs;
      }
    }
  }

  @Override
  public Records records() {
    return new MariaDbRecords();
  }

  @Override
  public Queries queries() {
    return new MariaDbQueries();
  }

  @Override
  public UserTransactions userTransactions() {
    return new MariaDbUserTransactions(this);
  }

  @Override
  public String nowMillis() {
    return NOW;
  }

  @Override
  public String forShare() {
    return "LOCK IN SHARE MODE WAIT 1"; // also in a group, which waits for no timer
  }

  @Override
  public String writingServer() {
    return "@@server_id";
  }

  @Override
  public String nextIncarnation() {
    return "nextval(timewheel_incarnation)";
  }
}
