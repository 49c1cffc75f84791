// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.mariadb;

import io.timewheel.durable.jdbc.internal.rows.Rows;
import io.timewheel.durable.jdbc.internal.server.Records;
import io.timewheel.durable.jdbc.internal.server.Records.Finished;
import io.timewheel.durable.jdbc.internal.server.Records.Lock;
import io.timewheel.durable.jdbc.internal.sql.Parameters;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.jdbc.internal.sql.Statements.Answer;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.format.Codes;
import io.timewheel.durable.spi.record.TimerRecord;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes records on MariaDB, which has no arrays. Statements list rows by their complete
 * keys. With any plan that the optimizer chooses for small tables, they read and lock only the
 * listed rows. Where no such form exists, each row has its own statement.
 *
 * <p>An update of several rows does not return the rows that it has found. So the caller locks all
 * rows before it advances more than one: they are then unchanged since they were read.
 */
public final class MariaDbRecords implements Records {
  static final String NO_PAYLOAD = "'' AS payload";
  static final String DONE_COLUMNS = Rows.COLUMNS + ", NULL AS fire_at, " + NO_PAYLOAD;

  private static final String READING =
      " WHERE namespace = ? AND id = ? AND version = ? AND revision = ?";

  private static final String INSERT_COLUMNS =
      "INSERT INTO %s (namespace, id, handler, version, due_at, created_at, changed_at, revision,"
          + " attempt, state, flags, spec, progress, %s)";

  private static final String INSERT =
      INSERT_COLUMNS.formatted("timewheel_timer", "fire_at, shard, payload");

  /** The columns of a new timer. Values are constants where all new timers have the same. */
  static final String NEW_COLUMNS =
      "INSERT INTO timewheel_timer (namespace, id, handler, due_at, created_at, changed_at, flags,"
          + " spec, fire_at, shard, payload, revision, attempt, state, version) VALUES ";

  /** The row of a new timer without its version. */
  static final String NEW_ROW =
      "("
          + MariaDbExpressions.marks(11)
          + ", 0, 0, "
          + Codes.STATES.of(TimerState.SCHEDULED)
          + ", ";

  // Existing rows stay unchanged. Their returned version differs from the inserted one.
  private static final String UNLESS_PRESENT =
      " ON DUPLICATE KEY UPDATE version = timewheel_timer.version RETURNING namespace, id, version";

  private static final String ADVANCE =
      "UPDATE timewheel_timer SET revision = ?, due_at = ?, fire_at = ?, changed_at = ?,"
          + " attempt = ?, state = ?, flags = ?, progress = ?"
          + READING;

  // An upsert for rows that exist and are locked. The server parses one statement, and finds all
  // rows at once. The rows are never inserted, so the other columns need no values.
  private static final String ADVANCE_LOCKED =
      "INSERT INTO timewheel_timer (revision, due_at, fire_at, changed_at, attempt, state, flags,"
          + " progress, namespace, id, handler, version, created_at, spec, shard, payload)";

  private static final String LOCKED_ROW =
      "(" + MariaDbExpressions.marks(10) + ", '', 0, 0, '', 0, '')";

  private static final String ON_LOCKED =
      Stream.of(
              "revision",
              "due_at",
              "fire_at",
              "changed_at",
              "attempt",
              "state",
              "flags",
              "progress")
          .map("%1$s = VALUES(%1$s)"::formatted)
          .collect(Collectors.joining(", ", " ON DUPLICATE KEY UPDATE ", ""));

  private static final String REPLACE =
      "UPDATE timewheel_timer SET revision = ?, due_at = ?, fire_at = ?, changed_at = ?,"
          + " attempt = ?, state = ?, flags = ?, progress = ?, version = ?, created_at = ?,"
          + " handler = ?, spec = ?, payload = ?"
          + READING;

  private static final String INSERT_DONE =
      INSERT_COLUMNS.formatted("timewheel_done", "payload_hash");

  private static final String READ =
      "SELECT " + Rows.TIMER_COLUMNS + " FROM timewheel_timer t FORCE INDEX (PRIMARY)";

  // For the statements that may wait, in a batch that otherwise waits for no lock. SKIP LOCKED
  // would fail with error 1180. A claim keeps the lock on a skipped index row, but waits for no
  // other transaction, so it ends soon.
  private static final String MAY_WAIT = "SET STATEMENT innodb_lock_wait_timeout = 1 FOR ";

  private static final String IN_ORDER = " ORDER BY t.namespace, t.id FOR UPDATE";

  /** The number of rows from which a JDBC batch costs less than one statement. */
  private static final int LEAST_BATCH = 20;

  // Lists of keys

  /** Reads rows by keys, in the order of the primary key, which is also the order of locks. */
  private static void look(
      Connection connection,
      String select,
      List<TimerKey> keys,
      String end,
      MariaDbRows.Reader look)
      throws SQLException {
    for (int from = 0; from < keys.size(); from += MariaDbRows.MAX_ROWS) {
      List<TimerKey> some = keys.subList(from, Math.min(keys.size(), from + MariaDbRows.MAX_ROWS));
      try (PreparedStatement statement =
          connection.prepareStatement(select + " WHERE " + among(some) + end)) {
        bindAmong(new Parameters(connection, statement), some);
        try (ResultSet rows = statement.executeQuery()) {
          while (rows.next()) {
            look.take(rows);
          }
        }
      }
    }
  }

  /** Binds the keys of {@link #among}. */
  static void bindAmong(Parameters to, List<TimerKey> keys) throws SQLException {
    String namespace = null;
    for (TimerKey key : keys) {
      if (!key.namespace().equals(namespace)) {
        namespace = key.namespace();
        to.text(namespace);
      }
      to.text(key.id());
    }
  }

  /** {@return a condition that the optimizer evaluates as ranges of the primary key} */
  static String among(List<TimerKey> keys) {
    StringBuilder sql = new StringBuilder("(");
    String namespace = null;
    for (TimerKey key : keys) {
      if (key.namespace().equals(namespace)) {
        sql.append(", ?");
      } else {
        sql.append(namespace == null ? "" : ") OR ").append("t.namespace = ? AND t.id IN (?");
        namespace = key.namespace();
      }
    }
    return sql.append("))").toString();
  }

  /** {@return the statement that locks timers} */
  public static String lock(List<TimerKey> keys) {
    return READ + " WHERE " + among(keys) + IN_ORDER;
  }

  @Override
  public Answer<Map<TimerKey, TimerRecord>> read(Statements to, List<TimerKey> keys, Lock lock)
      throws SQLException {
    Map<TimerKey, TimerRecord> found = new HashMap<>(2 * keys.size());
    look(
        to.connection(),
        lock == Lock.PASS_OVER ? MAY_WAIT + READ : READ,
        keys,
        lock == Lock.NONE ? "" : IN_ORDER + lock.sql,
        row -> {
          TimerRecord record = Rows.record(row);
          found.put(record.key(), record);
        });
    return () -> found;
  }

  @Override
  public Set<TimerKey> present(Connection connection, List<TimerKey> keys) throws SQLException {
    return keysIn(connection, "timewheel_timer", keys);
  }

  /** {@return the keys of the timers that a table contains} */
  static Set<TimerKey> keysIn(Connection connection, String table, List<TimerKey> keys)
      throws SQLException {
    Set<TimerKey> found = new HashSet<>();
    look(
        connection,
        "SELECT t.namespace, t.id FROM " + table + " t FORCE INDEX (PRIMARY)",
        keys,
        "",
        row -> found.add(new TimerKey(row.getString(1), row.getString(2))));
    return found;
  }

  @Override
  public Answer<Map<TimerKey, Finished>> finished(Statements to, List<TimerKey> keys)
      throws SQLException {
    Map<TimerKey, Finished> found = new HashMap<>();
    look(
        to.connection(),
        "SELECT " + DONE_COLUMNS + ", t.payload_hash FROM timewheel_done t FORCE INDEX (PRIMARY)",
        keys,
        " AND " + Rows.NOT_PURGED,
        row -> {
          TimerRecord record = Rows.record(row);
          found.put(record.key(), new Finished(record, row.getBytes(Rows.PAYLOAD_HASH)));
        });
    return () -> found;
  }

  private static int size(TimerRecord record) {
    return size(Rows.progress(record))
        + Rows.spec(record).length
        + record.definition().payload().length;
  }

  private static int size(byte @Nullable [] progress) {
    return 1_024 + (progress == null ? 0 : progress.length);
  }

  private static Parameters columns(Parameters to, TimerRecord record) throws SQLException {
    return key(to, record)
        .text(record.definition().handler())
        .number(record.version())
        .number(record.dueAt())
        .number(record.createdAt())
        .number(record.changedAt())
        .number(record.revision())
        .number(record.attempt())
        .number(Rows.state(record))
        .number(Rows.flags(record))
        .bytes(Rows.spec(record))
        .bytes(Rows.progress(record));
  }

  @Override
  public Answer<boolean[]> insert(
      Statements statements, List<TimerRecord> records, int shards, boolean daring)
      throws SQLException {
    boolean[] which = new boolean[records.size()];
    if (daring && records.stream().allMatch(MariaDbRecords::isNew)) {
      MariaDbRows.insertNew(
          statements.connection(),
          NEW_COLUMNS + NEW_ROW + "?)",
          records,
          MariaDbRecords::size,
          (to, record) -> bindNew(to, record, shards).number(record.version()));
      Arrays.fill(which, true);
      return () -> which;
    }
    Map<TimerKey, Long> present = new HashMap<>();
    int unused =
        MariaDbRows.insert(
            statements.connection(),
            INSERT,
            MariaDbRows.row(16),
            records,
            MariaDbRecords::size,
            (to, record) ->
                columns(to, record)
                    .time(record.fireAt())
                    .number(Shards.of(record.key(), shards))
                    .bytes(record.definition().payload()),
            UNLESS_PRESENT,
            row -> present.put(new TimerKey(row.getString(1), row.getString(2)), row.getLong(3)));
    for (int i = 0; i < which.length; i++) {
      Long version = present.get(records.get(i).key());
      which[i] = version != null && version == records.get(i).version();
    }
    return () -> which;
  }

  /** Returns whether all columns that {@link #NEW_ROW} omits have their first values. */
  private static boolean isNew(TimerRecord record) {
    return record.state() == TimerState.SCHEDULED
        && record.revision() == 0
        && record.attempt() == 0
        && record.createdAt() == record.changedAt()
        && Rows.progress(record) == null;
  }

  /** Binds {@link #NEW_ROW}. */
  static Parameters bindNew(Parameters to, TimerRecord record, int shards) throws SQLException {
    return key(to, record)
        .text(record.definition().handler())
        .number(record.dueAt())
        .number(record.createdAt())
        .number(record.changedAt())
        .number(Rows.flags(record))
        .bytes(Rows.spec(record))
        .time(record.fireAt())
        .number(Shards.of(record.key(), shards))
        .bytes(record.definition().payload());
  }

  private static boolean[] delete(Connection connection, List<TimerRecord> records)
      throws SQLException {
    return MariaDbRows.each(
        connection, "DELETE FROM timewheel_timer" + READING, records, MariaDbRecords::reading);
  }

  @Override
  public void remove(Statements to, List<TimerRecord> records) throws SQLException {
    boolean[] unused = delete(to.connection(), records);
  }

  private static void insertDone(Connection connection, List<Finished> timers) throws SQLException {
    MariaDbRows.Columns<Finished> columns =
        (to, timer) -> columns(to, timer.record()).bytes(timer.payloadHash());
    MariaDbRows.Size<Finished> size = timer -> size(timer.record());
    if (timers.size() >= LEAST_BATCH) {
      MariaDbRows.insertNew(
          connection, INSERT_DONE + " VALUES " + MariaDbRows.row(14), timers, size, columns);
      return;
    }
    int unused =
        MariaDbRows.insert(
            connection,
            INSERT_DONE,
            MariaDbRows.row(14),
            timers,
            size,
            columns,
            "",
            returned -> {});
  }

  @Override
  public void insertFinished(Statements to, List<Finished> timers) throws SQLException {
    insertDone(to.connection(), timers);
  }

  private static Parameters progress(Parameters to, TimerRecord after) throws SQLException {
    return to.number(after.revision())
        .number(after.dueAt())
        .time(after.fireAt())
        .number(after.changedAt())
        .number(after.attempt())
        .number(Rows.state(after))
        .number(Rows.flags(after))
        .bytes(Rows.progress(after));
  }

  private static boolean[] advance(Connection connection, List<Step> steps) throws SQLException {
    if (steps.size() == 1) {
      return MariaDbRows.each(
          connection,
          ADVANCE,
          steps,
          (to, step) -> reading(progress(to, step.after()), step.before()));
    }
    int affected =
        MariaDbRows.insert(
            connection,
            ADVANCE_LOCKED,
            LOCKED_ROW,
            steps,
            step -> size(Rows.progress(step.after())),
            (to, step) -> key(progress(to, step.after()), step.after()),
            ON_LOCKED,
            returned -> {});
    // An upsert counts an updated row as two, and an inserted row as one.
    if (affected != 2 * steps.size()) {
      throw new IllegalStateException(
          "%d locked timers count as %d (expected: two for each)"
              .formatted(steps.size(), affected));
    }
    boolean[] done = new boolean[steps.size()];
    Arrays.fill(done, true);
    return done;
  }

  @Override
  public Answer<boolean[]> advance(Statements statements, List<Step> steps) throws SQLException {
    boolean[] done = advance(statements.connection(), steps);
    return () -> done;
  }

  @Override
  public Answer<boolean[]> replace(Statements statements, List<Step> steps) throws SQLException {
    boolean[] done =
        MariaDbRows.each(
            statements.connection(),
            REPLACE,
            steps,
            (to, step) -> {
              TimerRecord after = step.after();
              progress(to, after)
                  .number(after.version())
                  .number(after.createdAt())
                  .text(after.definition().handler())
                  .bytes(Rows.spec(after))
                  .bytes(after.definition().payload());
              reading(to, step.before());
            });
    return () -> done;
  }

  @Override
  public Answer<boolean[]> finish(Statements to, List<Step> steps) throws SQLException {
    boolean[] gone = delete(to.connection(), steps.stream().map(Step::before).toList());
    insertDone(
        to.connection(),
        Step.after(steps, gone).stream()
            .map(record -> new Finished(record, Rows.hash(record.definition().payload())))
            .toList());
    return () -> gone;
  }

  @Override
  public Answer<boolean[]> unfinish(Statements to, List<TimerRecord> records) throws SQLException {
    boolean[] done =
        MariaDbRows.each(
            to.connection(),
            "DELETE FROM timewheel_done" + READING,
            records,
            MariaDbRecords::reading);
    return () -> done;
  }

  private static void ready(Parameters to, TimerRecord record) throws SQLException {
    to.text(record.key().namespace())
        .text(record.definition().handler())
        .number(record.changedAt())
        .text(record.key().id());
  }

  @Override
  public void addReady(Statements to, List<TimerRecord> records) throws SQLException {
    MariaDbRows.insert(
        to.connection(),
        "INSERT INTO timewheel_ready (namespace, queue, ready_at, id)",
        4,
        Rows.ofQueues(records),
        MariaDbRecords::ready);
    MariaDbRows.insert(
        to.connection(),
        "INSERT INTO timewheel_handler_ready (namespace, handler, ready_at, id)",
        4,
        Rows.ofHandlers(records),
        MariaDbRecords::ready);
  }

  @Override
  public void removeReady(Statements to, List<TimerRecord> records) throws SQLException {
    boolean[] unused =
        MariaDbRows.each(
            to.connection(),
            MAY_WAIT
                + "DELETE FROM timewheel_ready WHERE namespace = ? AND queue = ? AND ready_at = ?"
                + " AND id = ?",
            Rows.ofQueues(records),
            MariaDbRecords::ready);
    boolean[] unusedOfHandlers =
        MariaDbRows.each(
            to.connection(),
            "DELETE FROM timewheel_handler_ready"
                + " WHERE namespace = ? AND handler = ? AND ready_at = ? AND id = ?",
            Rows.ofHandlers(records),
            MariaDbRecords::ready);
  }

  private static Parameters key(Parameters to, TimerRecord record) throws SQLException {
    return to.text(record.key().namespace()).text(record.key().id());
  }

  private static void reading(Parameters to, TimerRecord record) throws SQLException {
    key(to, record).number(record.version()).number(record.revision());
  }
}
