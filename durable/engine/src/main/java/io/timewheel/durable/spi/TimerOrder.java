// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import io.timewheel.durable.spi.record.DuePosition;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.Comparator;

/** The order of the timers of a namespace in a list. Timers with equal times are ordered by id. */
public enum TimerOrder {
  /** By id. */
  ID,
  /** By id, descending. */
  ID_DESCENDING,
  /** By creation time. */
  CREATED,
  /** By creation time, the newest first. */
  CREATED_DESCENDING,
  /** By due time. */
  DUE,
  /** By due time, the latest first. */
  DUE_DESCENDING;

  /** {@return whether the list begins with the largest time or id} */
  public boolean isDescending() {
    return this == ID_DESCENDING || this == CREATED_DESCENDING || this == DUE_DESCENDING;
  }

  /**
   * Returns the position of a record in a list.
   *
   * @param record the record
   * @return its key, with the time that orders it; 0 if the list is ordered by id
   */
  public DuePosition position(TimerRecord record) {
    long time =
        switch (this) {
          case ID, ID_DESCENDING -> 0;
          case CREATED, CREATED_DESCENDING -> record.createdAt();
          case DUE, DUE_DESCENDING -> record.dueAt();
        };
    return new DuePosition(time, record.key());
  }

  /** {@return the order of positions} */
  public Comparator<DuePosition> comparator() {
    Comparator<DuePosition> ascending = Comparator.naturalOrder();
    return isDescending() ? ascending.reversed() : ascending;
  }
}
