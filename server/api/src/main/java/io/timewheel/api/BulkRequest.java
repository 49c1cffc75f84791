// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The timers that a bulk operation changes.
 *
 * @param filter the timers; an empty filter selects all unfinished ones
 * @param expect the number of timers; if it differs, the server changes none
 * @param force true, instead of {@code expect}, to change any number of timers
 */
public record BulkRequest(@Nullable Filter filter, @Nullable Long expect, @Nullable Boolean force) {
  /**
   * A filter. A timer must match all of its fields.
   *
   * @param state the states, or {@code all}; in JSON also one text with commas
   * @param prefix the beginning of the ID
   * @param dueFrom the first due time
   * @param dueTo the end of the due times, exclusive
   * @param handler the name of the handler
   * @param queue the name of the queue
   */
  public record Filter(
      @JsonFormat(with = JsonFormat.Feature.ACCEPT_SINGLE_VALUE_AS_ARRAY)
          @JsonSetter(contentNulls = Nulls.FAIL)
          @Nullable List<String> state,
      @Nullable String prefix,
      @Nullable Instant dueFrom,
      @Nullable Instant dueTo,
      @Nullable String handler,
      @Nullable String queue) {
    /** Selects all unfinished timers. */
    public static final Filter ALL = new Filter(null, null, null, null, null, null);
  }

  /**
   * The result of a bulk operation.
   *
   * @param count the number of timers that the filter has selected
   * @param changed the number of timers that the operation has changed
   */
  public record Answer(long count, long changed) {}
}
