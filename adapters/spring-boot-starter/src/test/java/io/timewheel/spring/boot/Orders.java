// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.CancelResult;
import io.timewheel.durable.model.Firing;
import java.time.Duration;
import org.springframework.stereotype.Component;

// begin: durable timers
@Component
class Orders {
  private final DurableTimer scheduler;

  Orders(DurableTimer scheduler) {
    this.scheduler = scheduler;
  }

  void placed(OrderRef order) {
    scheduler.schedule(
        TimerSpec.of("shop", "order-" + order.number())
            .after(Duration.ofMinutes(30))
            .handler("orders.cancel")
            .payload(order));
  }

  boolean paid(OrderRef order) {
    CancelResult result = scheduler.timer("shop", "order-" + order.number()).cancel();
    return result.outcome() == CancelResult.Outcome.CANCELLED; // else it is, or was, too late
  }

  @OnTimer("orders.cancel")
  void cancel(OrderRef order, Firing firing) {
    System.out.println(order + " was not paid within 30 minutes; attempt " + firing.attempt());
  }
}

// end
