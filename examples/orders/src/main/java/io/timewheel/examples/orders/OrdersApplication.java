// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples.orders;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** The shop. README.md describes how to run it. */
@SpringBootApplication(proxyBeanMethods = false)
public class OrdersApplication {
  /** Called by Spring. */
  public OrdersApplication() {}

  /**
   * Runs the shop.
   *
   * @param args properties, such as {@code --orders.pay-within=10s}
   */
  public static void main(String[] args) {
    SpringApplication.run(OrdersApplication.class, args);
  }
}
