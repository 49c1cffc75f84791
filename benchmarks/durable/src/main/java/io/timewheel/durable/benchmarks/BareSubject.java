// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.jdbc.testing.Database;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * The floor: plain JDBC on one table of timers with an index by time. A call is one INSERT in
 * autocommit mode, a list one JDBC batch. A due timer inserts its effect into the ledger and
 * deletes its row in one transaction. There are no claims, so a second node would repeat effects.
 */
final class BareSubject implements Subject {
  private static final int CALLERS = 64;

  /**
   * Timers that are due later are only inserted: a workload that fires its timers ends before they
   * are due.
   */
  private static final long HANDLED_MILLIS = TimeUnit.HOURS.toMillis(1);

  private static final String INSERT = "INSERT INTO bare_timer VALUES (?, ?, ?)";

  private final ServerPlace place;
  private final OnFire onFire;
  private final int batch;
  private final HikariDataSource source;
  private final ScheduledExecutorService handlers;
  private final Queue<Future<?>> fires = new ConcurrentLinkedQueue<>();

  private BareSubject(ServerPlace place, OnFire onFire, int threads, int batch)
      throws SQLException {
    this.place = place;
    this.onFire = onFire;
    this.batch = batch;
    Database database = place.database();
    String bytes =
        switch (place.kind()) {
          case POSTGRESQL -> "bytea";
          case MARIADB -> "varbinary(60000)";
        };
    database.execute(
        "CREATE TABLE bare_timer (id varchar(100) PRIMARY KEY, due bigint, payload " + bytes + ")");
    database.execute("CREATE INDEX bare_due ON bare_timer (due)");
    Ledger.create(database);
    source =
        switch (place.kind()) {
          case POSTGRESQL -> database.with("reWriteBatchedInserts", true).pool(CALLERS + threads);
          case MARIADB -> database.with("useBulkStmts", true).pool(CALLERS + threads);
        };
    handlers = Executors.newScheduledThreadPool(threads);
  }

  /** Runs each timer in a transaction of its own. */
  static Subject oneByOne(ServerPlace place, int nodes, OnFire onFire) throws SQLException {
    return new BareSubject(place, onFire, Ledger.HANDLERS, 1);
  }

  /** Runs up to 500 timers in one transaction, with a statement for each effect. */
  static Subject inBatches(ServerPlace place, int nodes, OnFire onFire) throws SQLException {
    return new BareSubject(place, onFire, Ledger.BATCH_HANDLERS, Ledger.MAX_BATCH);
  }

  @Override
  public void schedule(List<Order> orders) throws SQLException {
    try (Connection connection = source.getConnection();
        PreparedStatement insert = connection.prepareStatement(INSERT)) {
      if (orders.size() == 1) {
        set(insert, orders.get(0));
        insert.executeUpdate();
      } else {
        connection.setAutoCommit(false);
        for (Order order : orders) {
          set(insert, order);
          insert.addBatch();
        }
        insert.executeBatch();
        connection.commit();
      }
    }
    for (int from = 0; from < orders.size(); from += batch) {
      List<Order> part = orders.subList(from, Math.min(orders.size(), from + batch));
      long delayMillis = part.get(0).dueMillis() - System.currentTimeMillis();
      if (delayMillis < HANDLED_MILLIS) {
        fires.add(handlers.schedule(() -> fire(part), delayMillis, TimeUnit.MILLISECONDS));
      }
    }
  }

  private static void set(PreparedStatement insert, Order order) throws SQLException {
    insert.setString(1, order.id());
    insert.setLong(2, order.dueMillis());
    insert.setBytes(3, order.payloadBytes());
  }

  private Void fire(List<Order> orders) throws SQLException {
    String places = String.join(", ", Collections.nCopies(orders.size(), "?"));
    try (Connection connection = source.getConnection()) {
      connection.setAutoCommit(false);
      for (Order order : orders) {
        Ledger.insert(connection, order.id(), 1);
      }
      try (PreparedStatement delete =
          connection.prepareStatement("DELETE FROM bare_timer WHERE id IN (" + places + ")")) {
        for (int i = 0; i < orders.size(); i++) {
          delete.setString(i + 1, orders.get(i).id());
        }
        delete.executeUpdate();
      }
      connection.commit();
    }
    orders.forEach(order -> onFire.fired(order.id()));
    return null;
  }

  @Override
  public long unfinished() throws Exception {
    for (Future<?> fire = fires.peek(); fire != null && fire.isDone(); fire = fires.peek()) {
      fires.remove();
      fire.get(); // throws if the transaction failed
    }
    return place.database().number("SELECT count(*) FROM bare_timer");
  }

  @Override
  public void close() {
    handlers.shutdownNow();
    source.close();
  }
}
