// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples.shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Kills the shop at various points, and verifies that no order is lost and no effect happens twice.
 * Only this class kills the example on a database.
 */
@Tag("proof")
@Timeout(300)
@Tag("promise-66")
class KilledShopTest {
  private static final Duration LONG = Duration.ofMinutes(30);

  /**
   * The threads of the customers. The common pool is unsuitable: with two processors it has only
   * one thread, for which all customers would wait.
   */
  private static final Executor THREADS = task -> new Thread(task, "customer").start();

  private final Database database = TestDatabases.postgresql().createDatabase();
  private Shop shop;

  @AfterEach
  void kill() throws InterruptedException {
    if (shop != null) {
      shop.kill();
    }
  }

  @Test
  void killedBetweenOrderAndTimerItHasNeither() throws Exception {
    shop = Shop.start(database, LONG);
    CompletableFuture<Order> answer =
        killWhileBlocked("lock table timewheel_timer in exclusive mode", shop::place);
    assertThatThrownBy(answer::join).hasRootCauseInstanceOf(IOException.class);

    assertThat(count("orders")).isZero();
    assertThat(count("timewheel_timer")).isZero();
  }

  @Test
  void killedInTheMiddleOfAPaymentItWasNotPaid() throws Exception {
    shop = Shop.start(database, LONG);
    Order order = shop.place();
    assertThat(count("timewheel_timer")).isOne();
    CompletableFuture<Order> answer =
        killWhileBlocked("select from timewheel_timer for update", () -> shop.pay(order.id()));
    assertThatThrownBy(answer::join).hasRootCauseInstanceOf(IOException.class);
    assertThat(count("orders where state = 'PLACED'")).isOne();
    assertThat(count("timewheel_timer")).isOne();

    shop = Shop.start(database, LONG);
    assertThat(shop.pay(order.id()).state()).isEqualTo(Order.State.PAID);
    assertThat(count("timewheel_timer")).isZero();
  }

  @Test
  void killedInTheMiddleOfACancellationItCancelsOnce() throws Exception {
    shop = Shop.start(database, Duration.ofSeconds(1));
    CompletableFuture<Order> unused =
        killWhileBlocked("lock table notes in exclusive mode", shop::place);
    assertThat(count("orders where state = 'PLACED'")).isOne();
    assertThat(count("timewheel_timer")).isOne();

    shop = Shop.start(database, LONG);
    awaitNone("timewheel_timer"); // once the lease of the killed node has expired
    assertThat(count("orders where state = 'CANCELLED'")).isOne();
    assertThat(count("notes")).isOne();
  }

  @Test
  void killedInTheRushItHasLostAndDoubledNothing() throws Exception {
    Set<String> placed = ConcurrentHashMap.newKeySet();
    Set<String> paid = ConcurrentHashMap.newKeySet();
    for (int round = 0; round < 2; round++) {
      shop = Shop.start(database, Duration.ofSeconds(1));
      CountDownLatch rush = new CountDownLatch(200);
      List<CompletableFuture<Void>> customers = new ArrayList<>();
      for (int customer = 0; customer < 4; customer++) {
        customers.add(
            CompletableFuture.runAsync(() -> shopUntilKilled(placed, paid, rush), THREADS));
      }
      rush.await();
      awaitSome("notes");
      shop.kill();
      customers.forEach(CompletableFuture::join);
      // In any snapshot, an order that waits for payment has a timer, and a cancelled one has none.
      assertThat(
              count(
                  "orders o left join timewheel_timer t on t.id = o.id"
                      + " where o.state = 'PLACED' and t.id is null"
                      + " or o.state = 'CANCELLED' and t.id is not null"))
          .isZero();
    }
    shop = Shop.start(database, LONG);
    awaitNone("timewheel_timer");

    assertThat(ids("orders")).containsAll(placed);
    assertThat(ids("orders where state = 'PAID'")).containsAll(paid);
    assertThat(count("orders where state = 'PLACED'")).isZero();
    assertThat(count("notes")).isPositive().isEqualTo(count("orders where state = 'CANCELLED'"));
    assertThat(count("orders o join notes n on n.order_id = o.id where o.state = 'CANCELLED'"))
        .isEqualTo(count("notes"));
    assertThat(count("(select distinct order_id from notes) as n")).isEqualTo(count("notes"));
  }

  private void shopUntilKilled(Set<String> placed, Set<String> paid, CountDownLatch rush) {
    try {
      for (int i = 0; ; i++) {
        Order order = shop.place();
        placed.add(order.id());
        if (i % 2 == 0 && shop.pay(order.id()).state() == Order.State.PAID) {
          paid.add(order.id());
        }
        rush.countDown();
      }
    } catch (IOException e) {
      // It was killed.
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  // Actions on the shop

  /**
   * Kills the shop while it waits for a lock with uncommitted changes.
   *
   * @return the outcome of the request
   */
  private CompletableFuture<Order> killWhileBlocked(String lock, Callable<Order> request)
      throws Exception {
    try (Connection blocker = database.connect();
        Statement statement = blocker.createStatement()) {
      blocker.setAutoCommit(false);
      statement.execute(lock);
      CompletableFuture<Order> answer =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return request.call();
                } catch (Exception e) {
                  throw new IllegalStateException(e);
                }
              },
              THREADS);
      awaitSome(
          "pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
              + " and backend_xid is not null");
      shop.kill();
      blocker.rollback();
      return answer;
    }
  }

  // Queries

  private long count(String what) throws SQLException {
    return database.number("select count(*) from " + what);
  }

  private void awaitSome(String what) throws SQLException {
    await(what, true);
  }

  private void awaitNone(String what) throws SQLException {
    await(what, false);
  }

  private void await(String what, boolean some) throws SQLException {
    while (count("(select pg_sleep(0.02)) as glance, " + what) > 0 != some) {
      assertThat(Thread.currentThread().isInterrupted()).as("timed out").isFalse();
    }
  }

  private List<String> ids(String what) throws SQLException {
    List<String> ids = new ArrayList<>();
    try (Connection connection = database.connect();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("select id from " + what)) {
      while (rows.next()) {
        ids.add(rows.getString(1));
      }
    }
    return ids;
  }
}
