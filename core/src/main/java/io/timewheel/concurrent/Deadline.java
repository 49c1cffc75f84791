// SPDX-License-Identifier: Apache-2.0
package io.timewheel.concurrent;

import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.timewheel.TimeSource;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A point in time by which an operation must be complete. Callers pass it down to callees. A
 * timeout limits each step; a deadline limits all steps together.
 *
 * <pre>{@code
 * Deadline deadline = Deadline.after(Duration.ofSeconds(2));
 * Connection connection = connect(deadline.within(Duration.ofMillis(500)));
 * Reply reply = connection.ask(question, deadline);
 * }</pre>
 *
 * <p>Immutable. A deadline is a reading of its {@link TimeSource}. Readings are compared by
 * difference, so wrap-around is harmless. A deadline has no meaning in another process. No deadline
 * is more than 292 years away.
 */
public final class Deadline implements Comparable<Deadline> {
  /** A single instance, so that all deadlines on the clock of the machine are comparable. */
  private static final TimeSource MACHINE = TimeSource.system();

  private final TimeSource timeSource;

  /** A reading of the time source. */
  private final long deadlineNanos;

  private Deadline(TimeSource timeSource, long deadlineNanos) {
    this.timeSource = timeSource;
    this.deadlineNanos = deadlineNanos;
  }

  /**
   * Returns the deadline that is {@code delay} from now, by the clock of the machine.
   *
   * @param delay the time from now; zero or less means now
   * @return the deadline
   */
  public static Deadline after(Duration delay) {
    return after(delay, MACHINE);
  }

  /**
   * Returns the deadline that is {@code delay} from now, by a given clock, such as the clock of a
   * test's timer.
   *
   * @param delay the time from now; zero or less means now
   * @param timeSource the clock
   * @return the deadline
   */
  public static Deadline after(Duration delay, TimeSource timeSource) {
    requireNonNull(delay, "delay");
    requireNonNull(timeSource, "timeSource");
    long delayNanos = Math.max(0, NANOSECONDS.convert(delay)); // saturates
    return new Deadline(timeSource, timeSource.nanoTime() + delayNanos);
  }

  /**
   * Returns the earlier of this deadline and the one that is {@code delay} from now. Use it for a
   * callee that has less time than its caller.
   *
   * @param delay the longest time from now; zero or less means now
   * @return the earlier deadline, on the clock of this one
   */
  public Deadline within(Duration delay) {
    requireNonNull(delay, "delay");
    long nowNanos = timeSource.nanoTime();
    long delayNanos = Math.max(0, NANOSECONDS.convert(delay));
    return delayNanos < deadlineNanos - nowNanos
        ? new Deadline(timeSource, nowNanos + delayNanos)
        : this;
  }

  /** {@return whether this deadline has been reached or has passed} */
  public boolean isExpired() {
    return remainingNanos() <= 0;
  }

  /** {@return the time from now to this deadline; negative after it has passed} */
  public Duration remaining() {
    return Duration.ofNanos(remainingNanos());
  }

  /**
   * Returns the time from now to this deadline, rounded toward zero; negative after it has passed.
   *
   * @param unit the unit of the result
   * @return the time left, in {@code unit}
   */
  public long remaining(TimeUnit unit) {
    requireNonNull(unit, "unit");
    return unit.convert(remainingNanos(), NANOSECONDS);
  }

  private long remainingNanos() {
    return deadlineNanos - timeSource.nanoTime();
  }

  /**
   * Compares with another deadline on the same clock: the earlier one comes first.
   *
   * @throws IllegalArgumentException if {@code other} is not on the clock of this one
   */
  @Override
  public int compareTo(Deadline other) {
    requireNonNull(other, "other");
    if (!timeSource.equals(other.timeSource)) {
      throw new IllegalArgumentException(
          "other: " + other + ", of another time source (expected: the same)");
    }
    long nowNanos = timeSource.nanoTime(); // from here, neither is more than 292 years away
    return Long.compare(deadlineNanos - nowNanos, other.deadlineNanos - nowNanos);
  }

  /** {@return whether the other object is a deadline at the same time on the same clock} */
  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Deadline deadline
        && timeSource.equals(deadline.timeSource)
        && deadlineNanos == deadline.deadlineNanos;
  }

  @Override
  public int hashCode() {
    return Long.hashCode(deadlineNanos);
  }

  @Override
  public String toString() {
    return "Deadline(" + remaining() + " left)";
  }
}
