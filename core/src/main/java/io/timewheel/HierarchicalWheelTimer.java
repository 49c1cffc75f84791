// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.time.Duration;

/**
 * A timer on hierarchical wheels. Delays from one tick to 292 years have the same cost, and there
 * is nothing to tune for the delays in use. Use this timer by default.
 *
 * <p>A tick is 1 ms by default. Ticks at which nothing is due cost nothing.
 */
public final class HierarchicalWheelTimer extends WheelTimer {
  private HierarchicalWheelTimer(Builder settings) {
    super(settings, HierarchicalWheel::new);
  }

  /** {@return a new timer with a tick of 1 ms and a daemon thread that runs the tasks} */
  public static HierarchicalWheelTimer create() {
    return builder().build();
  }

  /** {@return a builder with the settings of {@link #create}} */
  public static Builder builder() {
    return new Builder();
  }

  /** The settings of a {@link HierarchicalWheelTimer}. */
  public static final class Builder extends WheelTimer.Builder<Builder> {
    private Builder() {
      super(Duration.ofMillis(1));
    }

    @Override
    Builder self() {
      return this;
    }

    /** {@return a new timer with these settings} */
    public HierarchicalWheelTimer build() {
      return new HierarchicalWheelTimer(this);
    }
  }
}
