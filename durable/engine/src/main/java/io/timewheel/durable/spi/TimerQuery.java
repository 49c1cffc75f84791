// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Selects timers to list.
 *
 * @param namespace only timers of this namespace; null for all
 * @param prefix only ids that begin with it; empty for all
 * @param states only timers in these states
 * @param dueFrom only timers due at this time or later
 * @param dueTo only timers due before this time
 * @param handler only timers of this handler or queue; null for all
 * @param queue only timers of queues if true, only timers of handlers if false; null for both
 * @param payload true to read the payload; otherwise a store may omit it
 */
public record TimerQuery(
    @Nullable String namespace,
    String prefix,
    Set<TimerState> states,
    long dueFrom,
    long dueTo,
    @Nullable String handler,
    @Nullable Boolean queue,
    boolean payload) {
  /**
   * Creates a query for timers of queues and of handlers.
   *
   * @param namespace only timers of this namespace; null for all
   * @param prefix only ids that begin with it; empty for all
   * @param states only timers in these states
   * @param dueFrom only timers due at this time or later
   * @param dueTo only timers due before this time
   * @param handler only timers of this handler or queue; null for all
   * @param payload true to read the payload; otherwise a store may omit it
   */
  public TimerQuery(
      @Nullable String namespace,
      String prefix,
      Set<TimerState> states,
      long dueFrom,
      long dueTo,
      @Nullable String handler,
      boolean payload) {
    this(namespace, prefix, states, dueFrom, dueTo, handler, null, payload);
  }

  /**
   * Checks the parts that must not be null.
   *
   * @param namespace only timers of this namespace; null for all
   * @param prefix only ids that begin with it; empty for all
   * @param states only timers in these states
   * @param dueFrom only timers due at this time or later
   * @param dueTo only timers due before this time
   * @param handler only timers of this handler or queue; null for all
   * @param queue only timers of queues if true, only timers of handlers if false; null for both
   * @param payload true to read the payload; otherwise a store may omit it
   */
  public TimerQuery {
    requireNonNull(prefix, "prefix");
    states = Set.copyOf(states);
  }

  /**
   * Returns whether a record matches.
   *
   * @param record the record
   * @return true if it matches
   */
  public boolean matches(TimerRecord record) {
    return (namespace == null || namespace.equals(record.key().namespace()))
        && record.key().id().startsWith(prefix)
        && states.contains(record.state())
        && record.dueAt() >= dueFrom
        && record.dueAt() < dueTo
        && (handler == null || handler.equals(record.definition().handler()))
        && (queue == null || queue == record.definition().queue());
  }
}
