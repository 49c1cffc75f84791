// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Collects the records of a {@link TimerPage}, up to the requested number or {@link #MAX_BYTES} of
 * content. Not thread-safe.
 */
public final class PageBuilder {
  /** A page ends with the record that brings its content to this number of bytes. */
  public static final int MAX_BYTES = 4 << 20;

  private final List<TimerRecord> records = new ArrayList<>();
  private final boolean withPayload;
  private final int limit;
  private long bytes;

  /**
   * Begins a page.
   *
   * @param query the query; payloads count only if it requests them
   * @param limit the largest number of records
   */
  public PageBuilder(TimerQuery query, int limit) {
    withPayload = query.payload();
    this.limit = limit;
  }

  /** {@return the number of further records that the caller has requested} */
  public int left() {
    return limit - records.size();
  }

  /** {@return whether the page is full} */
  public boolean isFull() {
    return records.size() >= limit || bytes >= MAX_BYTES;
  }

  /**
   * Adds a record.
   *
   * @param record the next one
   */
  public void add(TimerRecord record) {
    records.add(record);
    bytes += bytes(record, withPayload);
  }

  /**
   * Estimates the size of a record from its variable content.
   *
   * @param record the record
   * @param withPayload whether its payload counts
   * @return its approximate size in bytes
   */
  public static long bytes(TimerRecord record, boolean withPayload) {
    long content = withPayload ? record.definition().payload().length : 0;
    content += record.definition().recurrence().length() + length(record.note());
    content += length(record.trace());
    for (Map.Entry<String, String> header : record.definition().headers().entrySet()) {
      content += header.getKey().length() + header.getValue().length();
    }
    for (Attempt attempt : record.attempts()) {
      content += length(attempt.error());
    }
    return content;
  }

  private static int length(@Nullable String text) {
    return text == null ? 0 : text.length();
  }

  /**
   * Ends the page.
   *
   * @param isLast true if no more records follow
   * @return the page
   */
  public TimerPage build(boolean isLast) {
    return new TimerPage(records, isLast ? null : records.get(records.size() - 1).key());
  }
}
