// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import io.timewheel.durable.model.TimerKey;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A part of a list of timers, in the order of namespace and id. It may hold fewer than were asked
 * for, none even, and not be the last: a store bounds the work of one call, and the bytes of a page
 * ({@link PageBuilder#MAX_BYTES}).
 *
 * @param records the records
 * @param next where the list goes on, after this key; null if this is the last page
 */
public record TimerPage(List<TimerRecord> records, @Nullable TimerKey next) {
  /**
   * Copies the list.
   *
   * @param records the records
   * @param next where the list goes on, after this key; null if this is the last page
   */
  public TimerPage {
    records = List.copyOf(records);
  }
}
