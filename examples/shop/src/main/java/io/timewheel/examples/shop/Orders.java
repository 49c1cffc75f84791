// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples.shop;

import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.jdbc.TransactionFiring;
import io.timewheel.spring.boot.CurrentTransactionTimer;
import io.timewheel.spring.boot.OnTimer;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** Places, pays and cancels orders, each in one transaction with the timer. */
@Service
class Orders {
  private static final String NAMESPACE = "orders";

  private final CurrentTransactionTimer timer;
  private final JdbcClient database;
  private final Duration payWithin;

  Orders(
      CurrentTransactionTimer timer,
      JdbcClient database,
      @Value("${shop.pay-within}") Duration limit) {
    this.timer = timer;
    this.database = database;
    payWithin = limit;
  }

  @Transactional
  Order place() {
    String id = UUID.randomUUID().toString();
    Instant now = Instant.now();
    database
        .sql("insert into orders (id, state, placed_at) values (?, 'PLACED', ?)")
        .params(id, Timestamp.from(now))
        .update();
    timer.schedule(TimerSpec.of(NAMESPACE, id).at(now.plus(payWithin)).handler("orders.cancel"));
    return find(id).orElseThrow();
  }

  /**
   * Pays an order unless it has been cancelled. The same transaction cancels its timer, so the
   * timer cannot cancel the order later.
   */
  @Transactional
  Optional<Order> pay(String id) {
    if (end(id, Order.State.PAID)) {
      timer.cancel(NAMESPACE, id);
    }
    return find(id);
  }

  /**
   * Cancels an order, and writes a note for the notification of the customer. The scheduler may
   * call this more than once for an order, or just after a payment. The changes are committed at
   * most once, together with the completion of the timer.
   */
  @OnTimer(value = "orders.cancel", transactional = true)
  void cancel(TransactionFiring firing) {
    if (end(firing.id(), Order.State.CANCELLED)) {
      database.sql("insert into notes (order_id) values (?)").param(firing.id()).update();
    }
  }

  private boolean end(String id, Order.State state) {
    return database
            .sql("update orders set state = ?, ended_at = ? where id = ? and state = 'PLACED'")
            .params(state.name(), Timestamp.from(Instant.now()), id)
            .update()
        == 1;
  }

  Optional<Order> find(String id) {
    return database
        .sql("select * from orders where id = ?")
        .param(id)
        .query(Order.class)
        .optional();
  }
}
