// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A part of a list of timers, in the order of namespace and id. A page that is not the last may
 * contain fewer records than requested, or none. A store limits the work of one call, and the bytes
 * of a page ({@link PageBuilder#MAX_BYTES}).
 *
 * @param records the records
 * @param next the list continues after this key; null if this is the last page
 */
public record TimerPage(List<TimerRecord> records, @Nullable TimerKey next) {
  /**
   * Copies the list.
   *
   * @param records the records
   * @param next the list continues after this key; null if this is the last page
   */
  public TimerPage {
    records = List.copyOf(records);
  }
}
