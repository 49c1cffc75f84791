// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class TurnsTest {
  private final Turns turns = new Turns();
  private final List<Runnable> handedOver = new ArrayList<>();
  private final AtomicInteger begun = new AtomicInteger();

  private int upkeep() {
    handedOver.clear(); // as an executor does that drops its tasks
    turns.upkeep();
    return handedOver.size();
  }

  @Test
  void anUpkeepHandsOverNoMoreThanSomeOfABacklog() {
    for (int i = 0; i < 250; i++) {
      turns.execute(handedOver::add, begun::incrementAndGet);
    }
    List<Integer> again = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      again.add(upkeep());
      handedOver.forEach(Runnable::run);
    }
    assertThat(again).startsWith(0, 100, 100, 50, 0);
    assertThat(begun).hasValue(250);
  }
}
