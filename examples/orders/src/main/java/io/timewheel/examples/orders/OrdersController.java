// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples.orders;

import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** Serves orders over HTTP. */
@RestController
class OrdersController {
  private final Orders orders;

  OrdersController(Orders orders) {
    this.orders = orders;
  }

  @PostMapping("/orders")
  Order place() {
    return orders.place();
  }

  @PostMapping("/orders/{id}/payment")
  ResponseEntity<Order> pay(@PathVariable String id) {
    return ResponseEntity.of(orders.pay(id));
  }

  @GetMapping("/orders/{id}")
  ResponseEntity<Order> find(@PathVariable String id) {
    return ResponseEntity.of(orders.find(id));
  }
}
