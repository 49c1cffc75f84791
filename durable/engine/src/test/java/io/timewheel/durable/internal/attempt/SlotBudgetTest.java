// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.HandlerSlots;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Verifies that no exception ends the offers of released slots. */
class SlotBudgetTest {
  private final HandlerSlots one = HandlerSlots.atMost(1);

  /** The name for which the slots throw. */
  private String failing = "";

  private final List<String> granted = new ArrayList<>();
  private final SlotBudget.Shared slots =
      new SlotBudget.Shared(
          new HandlerSlots() {
            @Override
            public boolean acquire(String handler) {
              if (handler.equals(failing)) {
                throw new StackOverflowError("on purpose");
              }
              return one.acquire(handler);
            }

            @Override
            public void release(String handler) {
              one.release(handler);
            }
          },
          this::offer);

  private void offer(String name) {
    if (slots.acquire(name)) {
      granted.add(name);
    }
    if (name.equals("throws")) {
      throw new StackOverflowError("on purpose");
    }
  }

  @Test
  void anErrorOfTheSlotsEndsNoOffers() {
    assertThat(slots.acquire("a")).isTrue();
    assertThat(slots.acquire("b")).isFalse();
    assertThat(slots.acquire("c")).isFalse();
    failing = "b";
    slots.release("a", 1);
    assertThat(granted).containsExactly("c");
    failing = "";
    slots.release("c", 1);
    assertThat(granted).containsExactly("c", "b");
  }

  @Test
  void anErrorAfterAGrantEndsNoOffers() {
    assertThat(slots.acquire("a")).isTrue();
    assertThat(slots.acquire("throws")).isFalse();
    assertThat(slots.acquire("b")).isFalse();
    slots.release("a", 1);
    slots.release("throws", 1);
    assertThat(granted).containsExactly("throws", "b");
  }
}
