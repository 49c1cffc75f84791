// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class DeliverySlotsTest {
  private final DeliverySlots slots = new DeliverySlots();
  private final List<String> held = new ArrayList<>();

  /** Takes slots until none is left, or up to a number. */
  private int take(int most, String host, String namespace) {
    String name = DeliveryName.handler(host, namespace);
    int taken = 0;
    while (taken < most && slots.acquire(name)) {
      held.add(name);
      taken++;
    }
    return taken;
  }

  @Test
  void aHostAloneHasAllItsSlots() {
    assertThat(take(1_000, "shop.example", "orders")).isEqualTo(DeliverySlots.MAX_PER_HOST / 2);
  }

  @Test
  void manySlowHostsLeaveSlotsForAnotherHostOfTheirNamespace() {
    for (int i = 0; i < 700; i++) {
      assertThat(take(1_000, "slow" + i + ".example", "orders")).isPositive();
    }
    assertThat(take(1_000, "shop.example", "orders")).isPositive();
  }

  @Test
  void aNamespaceLeavesSlotsForOthersForAnyHosts() {
    for (int i = 0; i < 10_000; i++) {
      take(1_000, "slow" + i + ".example", "orders");
    }
    assertThat(held).hasSize(DeliverySlots.MAX / 3);
    assertThat(take(1_000, "shop.example", "bills")).isGreaterThanOrEqualTo(28);
    for (int namespace = 0; namespace < 12; namespace++) {
      for (int i = 0; i < 1_000; i++) {
        take(1_000, "slow" + i + ".example", "ns" + namespace);
      }
    }
    assertThat(take(1_000, "other.example", "last")).isPositive();
  }

  @Test
  void aHostIsSharedByNamespaces() {
    int first = take(1_000, "shop.example", "orders");
    int second = take(1_000, "shop.example", "bills");
    int third = take(1_000, "shop.example", "others");
    assertThat(List.of(first, second, third)).containsExactly(32, 16, 8);
    assertThat(first + second + third).isLessThanOrEqualTo(DeliverySlots.MAX_PER_HOST);
  }

  @Test
  void releasesSlots() {
    take(1_000, "shop.example", "orders");
    take(1_000, "x".repeat(300), "\u20ac".repeat(80));
    held.forEach(slots::release);
    assertThat(slots.isEmpty()).isTrue();
  }

  @Test
  void aNameFitsAndKeepsItsParts() {
    String longHost = "x".repeat(253);
    String longNamespace = "n".repeat(256);
    String name = DeliveryName.handler(longHost, longNamespace);
    assertThat(name.length()).isLessThanOrEqualTo(256);
    assertThat(DeliveryName.of(name).namespace())
        .isEqualTo(DeliveryName.of(DeliveryName.handler("a", longNamespace)).namespace());
    assertThat(DeliveryName.of(DeliveryName.handler("[::1]", "a/b:c")))
        .isEqualTo(new DeliveryName("[::1]", "a/b:c"));
    assertThat(DeliveryName.sought("webhook:a", "n")).isEqualTo(DeliveryName.handler("a", "n"));
    assertThat(DeliveryName.sought("mail", "n")).isEqualTo("mail");
  }
}
