// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples.orders;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.Firing;
import io.timewheel.spring.boot.OnTimer;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Service;

/**
 * Places, pays and cancels orders. A row of the database decides between payment and cancellation,
 * so a repeated or late cancellation changes nothing.
 */
@Service
class Orders {
  private static final Logger LOG = LoggerFactory.getLogger(Orders.class);
  private static final String NAMESPACE = "orders";

  private final DurableTimer scheduler;
  private final JdbcClient database;
  private final Duration payWithin;

  Orders(
      DurableTimer scheduler, JdbcClient database, @Value("${orders.pay-within}") Duration limit) {
    this.scheduler = scheduler;
    this.database = database;
    payWithin = limit;
  }

  /**
   * Places an order. Schedules the timer first: if the process crashes before the order is stored,
   * a timer fires for a missing order, which is harmless. If the order were stored first, a crash
   * could leave an order without a timer, which would wait forever.
   */
  Order place() {
    String id = UUID.randomUUID().toString();
    Instant now = Instant.now();
    scheduler.schedule(
        TimerSpec.of(NAMESPACE, id)
            .at(now.plus(payWithin))
            .handler("orders.cancel")
            .payload(new OrderRef(id)));
    database
        .sql("insert into orders (id, state, placed_at) values (?, 'PLACED', ?)")
        .params(id, Timestamp.from(now))
        .update();
    return find(id).orElseThrow();
  }

  /** Pays an order, unless it has been cancelled. */
  Optional<Order> pay(String id) {
    if (end(id, Order.State.PAID)) {
      scheduler.timer(NAMESPACE, id).cancel();
    }
    return find(id);
  }

  @OnTimer("orders.cancel")
  void cancel(OrderRef order, Firing firing) {
    if (end(order.id(), Order.State.CANCELLED)) {
      LOG.info(
          "order {} was not paid in time, and is cancelled{}",
          order.id(),
          firing.isLate() ? ", late" : "");
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
