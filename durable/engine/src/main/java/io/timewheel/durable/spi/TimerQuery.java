// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.TimerState;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which timers to list.
 *
 * @param namespace only of this namespace, or null
 * @param prefix only with ids that begin so; empty for all
 * @param states only in these states
 * @param dueFrom only due at this time or later
 * @param dueTo only due before this time
 * @param handler only for this handler or queue, or null
 * @param queue only timers of queues if true, only timers of handlers if false; null for both
 * @param payload whether the payload is wanted; a store may leave it out otherwise
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
   * Lists timers of queues and of handlers.
   *
   * @param namespace only of this namespace, or null
   * @param prefix only with ids that begin so; empty for all
   * @param states only in these states
   * @param dueFrom only due at this time or later
   * @param dueTo only due before this time
   * @param handler only for this handler or queue, or null
   * @param payload whether the payload is wanted; a store may leave it out otherwise
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
   * Checks that nothing is null that must not be.
   *
   * @param namespace only of this namespace, or null
   * @param prefix only with ids that begin so; empty for all
   * @param states only in these states
   * @param dueFrom only due at this time or later
   * @param dueTo only due before this time
   * @param handler only for this handler or queue, or null
   * @param queue only timers of queues if true, only timers of handlers if false; null for both
   * @param payload whether the payload is wanted; a store may leave it out otherwise
   */
  public TimerQuery {
    requireNonNull(prefix, "prefix");
    states = Set.copyOf(states);
  }

  /**
   * Whether a record is one of those.
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
