// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples.orders;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Kills the shop, and verifies that it cancels unpaid orders after the restart, and only those.
 * Only this class kills the example.
 */
@Tag("proof")
@Tag("promise-66")
class KilledShopTest {
  @TempDir Path directory;
  private Shop shop;

  @AfterEach
  void kill() throws InterruptedException {
    if (shop != null) {
      shop.kill();
    }
  }

  /**
   * If the machine is so slow that the order was cancelled before the kill, repeats the test with
   * more time.
   */
  @Test
  void cancelsUnpaidOrdersAfterTheRestart() throws Exception {
    Duration payWithin = Duration.ofSeconds(5);
    while (!isCancelledAfterTheRestart(payWithin)) {
      payWithin = payWithin.multipliedBy(2);
    }
  }

  private boolean isCancelledAfterTheRestart(Duration payWithin) throws Exception {
    shop = Shop.start(directory, payWithin);
    Order paid = shop.place();
    assertThat(shop.pay(paid.id()).state()).isEqualTo(Order.State.PAID);
    Order forgotten = shop.place();
    shop.kill();
    Instant killed = Instant.now();

    shop = Shop.start(directory, Duration.ofMinutes(30));
    Order cancelled = awaitEnd(forgotten.id());

    assertThat(cancelled.state()).isEqualTo(Order.State.CANCELLED);
    assertThat(cancelled.endedAt())
        .as("never early")
        .isAfterOrEqualTo(cancelled.placedAt().plus(payWithin));
    assertThat(shop.pay(forgotten.id())).as("too late to pay").isEqualTo(cancelled);
    assertThat(shop.find(paid.id()).state()).isEqualTo(Order.State.PAID);
    shop.kill();
    return cancelled.endedAt().isAfter(killed);
  }

  private Order awaitEnd(String id) throws IOException, InterruptedException {
    Instant giveUp = Instant.now().plus(Duration.ofMinutes(2));
    Order order = shop.find(id);
    while (order.state() == Order.State.PLACED && Instant.now().isBefore(giveUp)) {
      order = shop.find(id);
    }
    return order;
  }
}
