// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The hierarchical wheel, as scripts in time. Ticks are of 1 ms. {@link WheelModel} checks the
 * whole wheel after every line.
 */
class HierarchicalWheelTest {
  private static final long TICK_NANOS = 1_000_000;

  private final WheelModel model = new WheelModel(0, TICK_NANOS, HierarchicalWheel::new);
  private final HierarchicalWheel wheel = (HierarchicalWheel) model.wheel;

  // Time, as it is told

  /** Or what is at level 0 in a slot of the next 64 ticks is taken for due at once. */
  @Test
  void aTimeReadLongAgoDoesNotTurnTheWheelBack() {
    model.runTo(64);
    WheelTimeout first = model.startAt(70);
    WheelTimeout second = model.startAt(100);
    model.advanceTo(80);
    model.startAt(300); // finds the way ahead blocked by the first
    model.stop(first);

    WheelTimeout slow = model.start(TICK_NANOS, 63 * TICK_NANOS);

    assertThat(wheel.nowTick).isEqualTo(64);
    assertThat(model.runTo(99)).containsExactly(slow);
    assertThat(model.runTo(100)).containsExactly(second);
  }

  // Opening a slot

  /** Or what is still in the slot lands behind it, and waits for all that is before it. */
  @Test
  void addingDoesNotAdvanceTheTimeOverWhatIsStillInTheSlotBeingOpened() {
    List<WheelTimeout> others = model.startAt(4096 + 200, Wheel.POLL_BUDGET);
    List<WheelTimeout> early = model.startAt(4096 + 10, 2);
    model.advanceTo(4096 + 10);
    assertThat(model.poll()).isNull(); // the budget went into the others

    model.advanceTo(4096 + 80);
    WheelTimeout late = model.startAt(4096 + 120);

    assertThat(wheel.nowTick).isEqualTo(4096 + 10);
    assertThat(model.pollAll()).containsExactlyElementsOf(early);
    assertThat(model.runTo(4096 + 120)).containsExactly(late);
    assertThat(model.runTo(4096 + 200)).containsExactlyElementsOf(others);
  }
}
