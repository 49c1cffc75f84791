// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/**
 * A timer on single hashed wheels. It has the constructors of the classes of the same name in Netty
 * and Dubbo, except those with Netty's {@code leakDetection}.
 *
 * <p>By default, a tick is 100 ms, the wheel has 512 slots, and pending timeouts are not limited.
 * Tasks run on the timer thread, which is a daemon.
 */
public final class HashedWheelTimer extends WheelTimer {
  /** Makes a timer with the default settings. */
  public HashedWheelTimer() {
    this(builder());
  }

  /**
   * Makes a timer with the given length of a tick.
   *
   * @param tickDuration the length of a tick: more than zero, at most a day
   * @param unit the unit of {@code tickDuration}
   */
  public HashedWheelTimer(long tickDuration, TimeUnit unit) {
    this(builder().tick(tickDuration, unit));
  }

  /**
   * Makes a timer with the given length of a tick and number of slots.
   *
   * @param tickDuration the length of a tick: more than zero, at most a day
   * @param unit the unit of {@code tickDuration}
   * @param ticksPerWheel the number of slots, rounded up to a power of two: 1 to 1,048,576
   */
  public HashedWheelTimer(long tickDuration, TimeUnit unit, int ticksPerWheel) {
    this(builder().tick(tickDuration, unit).ticksPerWheel(ticksPerWheel));
  }

  /**
   * Makes a timer with a thread from the given factory.
   *
   * @param threadFactory makes the thread of the timer, once
   */
  public HashedWheelTimer(ThreadFactory threadFactory) {
    this(builder().threadFactory(threadFactory));
  }

  /**
   * Makes a timer with a thread from the given factory, with the given length of a tick.
   *
   * @param threadFactory makes the thread of the timer, once
   * @param tickDuration the length of a tick: more than zero, at most a day
   * @param unit the unit of {@code tickDuration}
   */
  public HashedWheelTimer(ThreadFactory threadFactory, long tickDuration, TimeUnit unit) {
    this(builder().threadFactory(threadFactory).tick(tickDuration, unit));
  }

  /**
   * Makes a timer with a thread from the given factory, with the given length of a tick and number
   * of slots.
   *
   * @param threadFactory makes the thread of the timer, once
   * @param tickDuration the length of a tick: more than zero, at most a day
   * @param unit the unit of {@code tickDuration}
   * @param ticksPerWheel the number of slots, rounded up to a power of two: 1 to 1,048,576
   */
  public HashedWheelTimer(
      ThreadFactory threadFactory, long tickDuration, TimeUnit unit, int ticksPerWheel) {
    this(threadFactory, tickDuration, unit, ticksPerWheel, 0);
  }

  /**
   * Makes a timer with a thread from the given factory, with the given length of a tick, number of
   * slots and limit on pending timeouts.
   *
   * @param maxPendingTimeouts the maximum number of pending timeouts; no limit if zero or less
   * @param threadFactory makes the thread of the timer, once
   * @param tickDuration the length of a tick: more than zero, at most a day
   * @param unit the unit of {@code tickDuration}
   * @param ticksPerWheel the number of slots, rounded up to a power of two: 1 to 1,048,576
   */
  public HashedWheelTimer(
      ThreadFactory threadFactory,
      long tickDuration,
      TimeUnit unit,
      int ticksPerWheel,
      long maxPendingTimeouts) {
    this(
        builder()
            .threadFactory(threadFactory)
            .tick(tickDuration, unit)
            .ticksPerWheel(ticksPerWheel)
            .maxPendingTimeouts(maxPendingTimeouts));
  }

  /**
   * Makes a timer with all settings of a constructor: thread factory, length of a tick, number of
   * slots, limit on pending timeouts, and executor of the tasks.
   *
   * @param maxPendingTimeouts the maximum number of pending timeouts; no limit if zero or less
   * @param threadFactory makes the thread of the timer, once
   * @param tickDuration the length of a tick: more than zero, at most a day
   * @param unit the unit of {@code tickDuration}
   * @param ticksPerWheel the number of slots, rounded up to a power of two: 1 to 1,048,576
   * @param executor runs the tasks
   */
  public HashedWheelTimer(
      ThreadFactory threadFactory,
      long tickDuration,
      TimeUnit unit,
      int ticksPerWheel,
      long maxPendingTimeouts,
      Executor executor) {
    this(
        builder()
            .threadFactory(threadFactory)
            .tick(tickDuration, unit)
            .ticksPerWheel(ticksPerWheel)
            .maxPendingTimeouts(maxPendingTimeouts)
            .executor(executor));
  }

  private HashedWheelTimer(Builder settings) {
    this(settings, settings.slots);
  }

  private HashedWheelTimer(Builder settings, int slots) {
    super(settings, ticks -> new HashedWheel(ticks, slots));
  }

  /** {@return a builder with the default settings} */
  public static Builder builder() {
    return new Builder();
  }

  /** The settings of a {@link HashedWheelTimer}. */
  public static final class Builder extends WheelTimer.Builder<Builder> {
    private int slots = 512;

    private Builder() {
      super(Duration.ofMillis(100));
    }

    /**
     * Sets the number of slots of the wheel, rounded up to a power of two. Two timeouts share a
     * slot if their ticks differ by a multiple of this number. Choose about as many slots as there
     * are ticks in a typical delay.
     *
     * @param ticksPerWheel the number of slots, rounded up to a power of two: 1 to 1,048,576
     * @return this builder
     * @throws IllegalArgumentException if {@code ticksPerWheel} is not from 1 to 1,048,576
     */
    public Builder ticksPerWheel(int ticksPerWheel) {
      if (ticksPerWheel < 1 || ticksPerWheel > HashedWheel.MAX_SLOTS) {
        throw new IllegalArgumentException(
            "ticksPerWheel: " + ticksPerWheel + " (expected: 1 to " + HashedWheel.MAX_SLOTS + ")");
      }
      slots = ceilingPowerOfTwo(ticksPerWheel);
      return this;
    }

    /** Sets the tick from the arguments of a constructor. An error names that argument. */
    private Builder tick(long tickDuration, TimeUnit unit) {
      requireNonNull(unit, "unit");
      long nanos = unit.toNanos(tickDuration);
      if (nanos < 1 || nanos > MAX_TICK.toNanos()) {
        throw new IllegalArgumentException(
            "tickDuration: "
                + tickDuration
                + " "
                + unit
                + " (expected: more than zero, at most one day)");
      }
      return tick(Duration.ofNanos(nanos));
    }

    @Override
    Builder self() {
      return this;
    }

    /** {@return a new timer with these settings} */
    public HashedWheelTimer build() {
      return new HashedWheelTimer(this);
    }
  }
}
