// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks.database;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Tables with the columns and indexes that a store of durable timers needs, on PostgreSQL, and the
 * statements for its operations. Each method runs one statement with arrays, and commits nothing.
 */
final class FloorTables {
  static final int SHARDS = 64;

  private static final String NAMESPACE = "shop";
  private static final String HANDLER = "orders.cancel";
  private static final long EPOCH = 7;
  private static final byte[] SPEC = new byte[16];
  private static final byte[] PROGRESS = new byte[24];
  private static final byte[] PAYLOAD = new byte[64];

  private static final List<String> TABLES =
      List.of(
          "DROP TABLE IF EXISTS timer, done, shard",
          """
          CREATE TABLE timer (
            version bigint NOT NULL, due_at bigint NOT NULL, fire_at bigint,
            created_at bigint NOT NULL, changed_at bigint NOT NULL,
            revision integer NOT NULL, shard integer NOT NULL, attempt integer NOT NULL,
            state smallint NOT NULL, flags smallint NOT NULL,
            namespace text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL,
            handler text COLLATE "C" NOT NULL,
            spec bytea NOT NULL, progress bytea, payload bytea NOT NULL,
            PRIMARY KEY (namespace, id)
          ) WITH (fillfactor = 90)
          """,
          "CREATE INDEX timer_due ON timer (shard, fire_at) WHERE fire_at IS NOT NULL",
          """
          CREATE TABLE done (
            version bigint NOT NULL, due_at bigint NOT NULL, created_at bigint NOT NULL,
            changed_at bigint NOT NULL, revision integer NOT NULL, attempt integer NOT NULL,
            part smallint NOT NULL, state smallint NOT NULL, flags smallint NOT NULL,
            namespace text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL,
            handler text COLLATE "C" NOT NULL, spec bytea NOT NULL, progress bytea
          ) PARTITION BY LIST (part)
          """,
          "CREATE INDEX done_key ON done (namespace, id)",
          "CREATE INDEX done_end ON done (changed_at)",
          "CREATE TABLE done_0 PARTITION OF done FOR VALUES IN (0)",
          "CREATE TABLE shard (shard integer PRIMARY KEY, owner bigint, epoch bigint NOT NULL)"
              + " WITH (fillfactor = 50)",
          "INSERT INTO shard SELECT n, 1, " + EPOCH + " FROM generate_series(0, 63) n",
          "ANALYZE shard");

  private final Connection connection;

  /** Timers as arrays, one for each column that differs between them. */
  static final class Batch {
    private final String[] ids;
    private final Long[] dueMillis;
    private final Integer[] shards;

    private Batch(int size) {
      ids = new String[size];
      dueMillis = new Long[size];
      shards = new Integer[size];
    }

    static Batch of(int first, int size) {
      return ofAll(IntStream.range(first, first + size).toArray());
    }

    /** Returns timers with IDs of 16 characters, made from their numbers. */
    static Batch ofAll(int[] numbers) {
      Batch batch = new Batch(numbers.length);
      for (int i = 0; i < numbers.length; i++) {
        String digits = Integer.toString(numbers[i]);
        batch.ids[i] = "order-" + "0".repeat(10 - digits.length()) + digits;
        Random random = new Random(numbers[i]);
        batch.dueMillis[i] = 1_800_000_000_000L + random.nextInt(3_600_000);
        batch.shards[i] = random.nextInt(SHARDS);
      }
      return batch;
    }

    int size() {
      return ids.length;
    }
  }

  FloorTables(Connection connection) throws SQLException {
    this.connection = connection;
    connection.setAutoCommit(false);
    try (Statement statement = connection.createStatement()) {
      // Otherwise PostgreSQL plans statements with short arrays again each time.
      statement.execute("SET plan_cache_mode = force_generic_plan");
    }
    connection.commit();
  }

  void create() throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String sql : TABLES) {
        statement.execute(sql);
      }
    }
    connection.commit();
  }

  /** Runs the maintenance that the server would run later by itself. */
  void settle() throws SQLException {
    connection.setAutoCommit(true);
    try (Statement statement = connection.createStatement()) {
      statement.execute("VACUUM ANALYZE timer");
      statement.execute("CHECKPOINT");
    } finally {
      connection.setAutoCommit(false);
    }
  }

  Connection connection() {
    return connection;
  }

  private void set(PreparedStatement statement, int at, String type, Object[] array)
      throws SQLException {
    statement.setArray(at, connection.createArrayOf(type, array));
  }

  private PreparedStatement prepare(String sql, Batch batch) throws SQLException {
    PreparedStatement statement = connection.prepareStatement(sql);
    set(statement, 1, "text", batch.ids);
    return statement;
  }

  private static void expect(int rows, Batch batch) {
    if (rows != batch.size()) {
      throw new IllegalStateException(rows + " rows (expected: " + batch.size() + ")");
    }
  }

  private static int count(PreparedStatement statement) throws SQLException {
    int rows = 0;
    try (ResultSet results = statement.executeQuery()) {
      while (results.next()) {
        rows++;
      }
    }
    return rows;
  }

  /** Inserts or replaces timers, and returns the result of each. */
  void upsert(Batch batch) throws SQLException {
    String sql =
        "INSERT INTO timer AS t (version, due_at, fire_at, created_at, changed_at, revision, shard,"
            + " attempt, state, flags, namespace, id, handler, spec, progress, payload)"
            + " SELECT 1, due, due, 1, 1, 0, shard, 0, 1, 0, '"
            + NAMESPACE
            + "', id, '"
            + HANDLER
            + "', ?, NULL, ? FROM unnest(?::text[], ?::bigint[], ?::int[]) AS b (id, due, shard)"
            + " ON CONFLICT (namespace, id) DO UPDATE SET version = t.version + 1,"
            + " due_at = excluded.due_at, fire_at = excluded.fire_at, changed_at = 2, state = 1,"
            + " payload = excluded.payload RETURNING id, version, xmax = 0";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setBytes(1, SPEC);
      statement.setBytes(2, PAYLOAD);
      set(statement, 3, "text", batch.ids);
      set(statement, 4, "bigint", batch.dueMillis);
      set(statement, 5, "int4", batch.shards);
      expect(count(statement), batch);
    }
  }

  /** Claims timers that are unchanged since they were read, and returns the data for their runs. */
  void claim(Batch batch) throws SQLException {
    String sql =
        "UPDATE timer t SET state = 2, attempt = t.attempt + 1, revision = t.revision + 1,"
            + " progress = ?, changed_at = 3 FROM unnest(?::text[]) AS b (id)"
            + " WHERE t.namespace = '"
            + NAMESPACE
            + "' AND t.id = b.id AND t.state = 1 AND t.version = 1 AND t.revision = 0"
            + " RETURNING t.id, t.due_at, t.handler, t.spec, t.payload";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setBytes(1, PROGRESS);
      set(statement, 2, "text", batch.ids);
      expect(count(statement), batch);
    }
  }

  /** Deletes timers that are still claimed, and writes the history in the same statement. */
  void finish(Batch batch) throws SQLException {
    String sql =
        "WITH gone AS (DELETE FROM timer t USING unnest(?::text[]) AS b (id)"
            + " WHERE t.namespace = '"
            + NAMESPACE
            + "' AND t.id = b.id AND t.state = 2 AND t.version = 1 AND t.attempt = 1"
            + " RETURNING t.*)"
            + " INSERT INTO done SELECT version, due_at, created_at, 4, revision + 1, attempt, 0,"
            + " 3, flags, namespace, id, handler, spec, progress FROM gone";
    try (PreparedStatement statement = prepare(sql, batch)) {
      expect(statement.executeUpdate(), batch);
    }
  }

  /** Compares the epochs of the shards, and locks them until the commit. */
  void fence(Batch batch) throws SQLException {
    Integer[] shards = Stream.of(batch.shards).sorted().distinct().toArray(Integer[]::new);
    String sql =
        "SELECT shard, epoch FROM shard WHERE shard = ANY (?::int[]) ORDER BY shard FOR SHARE";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      set(statement, 1, "int4", shards);
      int same = 0;
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          same += rows.getLong(2) == EPOCH ? 1 : 0;
        }
      }
      if (same != shards.length) {
        throw new IllegalStateException("stale");
      }
    }
  }

  /** The general form, first half: locks the rows and reads them completely. */
  Rows lock(Batch batch) throws SQLException {
    String sql =
        "SELECT t.* FROM timer t JOIN unnest(?::text[]) AS b (id)"
            + " ON t.namespace = '"
            + NAMESPACE
            + "' AND t.id = b.id ORDER BY t.id FOR UPDATE OF t";
    Rows rows = new Rows(batch.size());
    try (PreparedStatement statement = prepare(sql, batch);
        ResultSet results = statement.executeQuery()) {
      while (results.next()) {
        rows.add(results);
      }
    }
    return rows;
  }

  /** The general form, second half: inserts new rows. */
  void insert(Rows rows) throws SQLException {
    String sql =
        "INSERT INTO timer SELECT * FROM unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[],"
            + " ?::bigint[], ?::int[], ?::int[], ?::int[], ?::smallint[], ?::smallint[],"
            + " ?::text[], ?::text[], ?::text[], ?::bytea[], ?::bytea[], ?::bytea[])";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      setAll(statement, rows);
      rows.expect(statement.executeUpdate());
    }
  }

  /** The general form, second half: writes back all columns that may have changed. */
  void update(Rows rows) throws SQLException {
    String sql =
        "UPDATE timer t SET version = b.version, due_at = b.due_at, fire_at = b.fire_at,"
            + " changed_at = b.changed_at, revision = b.revision, attempt = b.attempt,"
            + " state = b.state, flags = b.flags, progress = b.progress"
            + " FROM unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::int[], ?::int[],"
            + " ?::smallint[], ?::smallint[], ?::text[], ?::text[], ?::bytea[])"
            + " AS b (version, due_at, fire_at, changed_at, revision, attempt, state, flags,"
            + " namespace, id, progress) WHERE t.namespace = b.namespace AND t.id = b.id";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      set(statement, 1, "bigint", rows.versions());
      set(statement, 2, "bigint", rows.due());
      set(statement, 3, "bigint", rows.fire());
      set(statement, 4, "bigint", rows.changed());
      set(statement, 5, "int4", rows.revisions());
      set(statement, 6, "int4", rows.attempts());
      set(statement, 7, "int2", rows.states());
      set(statement, 8, "int2", rows.flags());
      set(statement, 9, "text", rows.namespaces());
      set(statement, 10, "text", rows.ids());
      set(statement, 11, "bytea", rows.progress());
      rows.expect(statement.executeUpdate());
    }
  }

  /** The general form, second half: deletes rows, and writes the history. */
  void delete(Rows rows) throws SQLException {
    String sql =
        "DELETE FROM timer t USING unnest(?::text[], ?::text[]) AS b (namespace, id)"
            + " WHERE t.namespace = b.namespace AND t.id = b.id";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      set(statement, 1, "text", rows.namespaces());
      set(statement, 2, "text", rows.ids());
      rows.expect(statement.executeUpdate());
    }
    sql =
        "INSERT INTO done SELECT version, due, created, changed, revision, attempt, 0, 3, flags,"
            + " namespace, id, handler, spec, progress"
            + " FROM unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[],"
            + " ?::int[], ?::int[], ?::int[], ?::smallint[], ?::smallint[], ?::text[], ?::text[],"
            + " ?::text[], ?::bytea[], ?::bytea[]) AS b (version, due, fire, created, changed,"
            + " revision, shard, attempt, state, flags, namespace, id, handler, spec, progress)";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      setHistory(statement, rows);
      rows.expect(statement.executeUpdate());
    }
  }

  private void setAll(PreparedStatement statement, Rows rows) throws SQLException {
    setHistory(statement, rows);
    set(statement, 16, "bytea", rows.payloads());
  }

  private void setHistory(PreparedStatement statement, Rows rows) throws SQLException {
    set(statement, 1, "bigint", rows.versions());
    set(statement, 2, "bigint", rows.due());
    set(statement, 3, "bigint", rows.fire());
    set(statement, 4, "bigint", rows.created());
    set(statement, 5, "bigint", rows.changed());
    set(statement, 6, "int4", rows.revisions());
    set(statement, 7, "int4", rows.shards());
    set(statement, 8, "int4", rows.attempts());
    set(statement, 9, "int2", rows.states());
    set(statement, 10, "int2", rows.flags());
    set(statement, 11, "text", rows.namespaces());
    set(statement, 12, "text", rows.ids());
    set(statement, 13, "text", rows.handlers());
    set(statement, 14, "bytea", rows.specs());
    set(statement, 15, "bytea", rows.progress());
  }

  /** Returns new rows with the values that the caller of a store would decide. */
  static Rows newRows(Batch batch) {
    Rows rows = new Rows(batch.size());
    for (int i = 0; i < batch.size(); i++) {
      rows.add(
          batch.ids[i], batch.dueMillis[i], batch.shards[i], NAMESPACE, HANDLER, SPEC, PAYLOAD);
    }
    return rows;
  }

  static byte[] progress() {
    return PROGRESS.clone();
  }
}
