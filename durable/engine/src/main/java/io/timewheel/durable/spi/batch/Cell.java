// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi.batch;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.record.TimerRecord;
import org.jspecify.annotations.Nullable;

/** Represents a timer of a batch: its record in the store, and after the changes so far. */
public class Cell {
  private final TimerKey key;
  private @Nullable TimerRecord before;
  private @Nullable TimerRecord after;

  /**
   * Creates a cell without a record.
   *
   * @param key the timer
   */
  public Cell(TimerKey key) {
    this.key = requireNonNull(key, "key");
  }

  /** {@return the key of the timer} */
  public final TimerKey key() {
    return key;
  }

  /**
   * Sets the stored record of a cell without changes.
   *
   * @param record the record; null if there is none
   */
  public final void found(@Nullable TimerRecord record) {
    before = record;
    after = record;
  }

  /** {@return the stored record; null if there is none} */
  public final @Nullable TimerRecord before() {
    return before;
  }

  /** {@return the record after the changes so far; null if there is none} */
  public final @Nullable TimerRecord after() {
    return after;
  }

  final void after(@Nullable TimerRecord record) {
    after = record;
  }

  /** {@return true if the store must write the record} */
  @SuppressWarnings("ReferenceEquality") // an unchanged record is the same object
  public final boolean isChanged() {
    return after != before;
  }
}
