// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.internal.time.EpochMillis;
import io.timewheel.durable.model.InvalidArgumentException;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.TimerOrder;
import io.timewheel.durable.spi.TimerQuery;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Selects timers to list. Immutable. */
public final class TimerFilter {
  private static final Set<TimerState> UNFINISHED =
      EnumSet.complementOf(EnumSet.of(TimerState.COMPLETED, TimerState.CANCELLED));

  private final TimerQuery query;
  private final TimerOrder order;

  private TimerFilter(TimerQuery query, TimerOrder order) {
    this.query = query;
    this.order = order;
  }

  /** {@return a filter for all timers, including retained finished ones} */
  public static TimerFilter all() {
    return unfinished().states(EnumSet.allOf(TimerState.class));
  }

  /** {@return a filter for timers that are neither completed nor cancelled} */
  public static TimerFilter unfinished() {
    return new TimerFilter(
        new TimerQuery(null, "", UNFINISHED, Long.MIN_VALUE, Long.MAX_VALUE, null, true),
        TimerOrder.ID);
  }

  /** The parts of a query, while some of them are changed. */
  private static final class Parts {
    private @Nullable String namespace;
    private String prefix;
    private Set<TimerState> states;
    private long dueFrom;
    private long dueTo;
    private @Nullable String handler;
    private @Nullable Boolean queue;
    private boolean payload;

    Parts(TimerQuery query) {
      namespace = query.namespace();
      prefix = query.prefix();
      states = query.states();
      dueFrom = query.dueFrom();
      dueTo = query.dueTo();
      handler = query.handler();
      queue = query.queue();
      payload = query.payload();
    }
  }

  private TimerFilter with(Consumer<Parts> change) {
    Parts to = new Parts(query);
    change.accept(to);
    return new TimerFilter(
        new TimerQuery(
            to.namespace,
            to.prefix,
            to.states,
            to.dueFrom,
            to.dueTo,
            to.handler,
            to.queue,
            to.payload),
        order);
  }

  /**
   * Omits the payloads, if the store can omit them.
   *
   * @return a filter for the same timers
   */
  public TimerFilter withoutPayload() {
    return with(to -> to.payload = false);
  }

  /**
   * Selects only timers of a namespace.
   *
   * @param namespace the namespace
   * @return a filter with this condition in addition
   */
  public TimerFilter namespace(String namespace) {
    Limits.name("namespace", namespace);
    return with(to -> to.namespace = namespace);
  }

  /**
   * Selects only timers whose id begins with a prefix.
   *
   * @param prefix the prefix
   * @return a filter with this condition in addition
   */
  public TimerFilter prefix(String prefix) {
    requireNonNull(prefix, "prefix");
    return with(to -> to.prefix = prefix);
  }

  /**
   * Selects only timers in the given states. Replaces the present condition on states.
   *
   * @param states the states
   * @return a filter with this condition
   */
  public TimerFilter states(Set<TimerState> states) {
    requireNonNull(states, "states");
    if (states.isEmpty()) {
      throw new InvalidArgumentException("states: none (expected: at least one)");
    }
    return with(to -> to.states = states);
  }

  /**
   * Selects only timers that are due within a span of time.
   *
   * @param from the beginning, inclusive
   * @param to the end, exclusive
   * @return a filter with this condition in addition
   */
  public TimerFilter dueBetween(Instant from, Instant to) {
    requireNonNull(from, "from");
    if (requireNonNull(to, "to").isBefore(from)) {
      throw new InvalidArgumentException("to: " + to + " (expected: not before " + from + ")");
    }
    return with(
        parts -> {
          parts.dueFrom = EpochMillis.ceil(from);
          parts.dueTo = EpochMillis.ceil(to);
        });
  }

  /**
   * Selects only timers of a handler or queue.
   *
   * @param handler its name
   * @return a filter with this condition in addition
   */
  public TimerFilter handler(String handler) {
    Limits.name("handler", handler);
    return with(to -> to.handler = handler);
  }

  /**
   * Selects only timers of a queue.
   *
   * @param queue its name
   * @return a filter with this condition in addition
   */
  public TimerFilter queue(String queue) {
    Limits.name("queue", queue);
    return with(
        to -> {
          to.handler = queue;
          to.queue = true;
        });
  }

  /**
   * Selects only timers of queues, or only timers of handlers.
   *
   * @param queues true for timers of queues, false for timers of handlers
   * @return a filter with this condition in addition
   */
  public TimerFilter queues(boolean queues) {
    return with(to -> to.queue = queues);
  }

  /**
   * Sets another order than by namespace and id. Such a list needs a namespace, and each of its
   * pages may read all timers of that namespace.
   *
   * @param newOrder the order
   * @return a filter for the same timers
   */
  public TimerFilter order(TimerOrder newOrder) {
    return new TimerFilter(query, requireNonNull(newOrder, "order"));
  }

  /**
   * Returns the token of the page that follows a timer, for a caller that shows only the first
   * timers of a page.
   *
   * @param last the last timer that is shown
   * @return the token, for {@link TimerSelection#list} with this filter
   */
  public String pageAfter(TimerInfo last) {
    return TimerList.token(this, order.position(last.record())).orElseThrow();
  }

  TimerOrder order() {
    return order;
  }

  TimerQuery query() {
    return query;
  }
}
