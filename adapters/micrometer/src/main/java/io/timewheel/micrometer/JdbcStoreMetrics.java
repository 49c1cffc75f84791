// SPDX-License-Identifier: Apache-2.0
package io.timewheel.micrometer;

import static java.util.Objects.requireNonNull;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.timewheel.durable.jdbc.JdbcFigures;
import io.timewheel.durable.jdbc.JdbcTimerStore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * Publishes the {@link JdbcFigures} of a store in a shared database as meters. The meters read them
 * when a registry polls, and do not query the database. Use them together with {@link
 * DurableTimerMetrics}.
 *
 * <table>
 * <caption>The meters; the tag {@code timer} is the name of the timer</caption>
 * <tr><th>Name, after {@code timewheel.durable.jdbc.}<th>Kind<th>Figure
 * <tr><td>{@code shards.received}, {@code shards.taken.over}, {@code shards.given}, {@code leases.lost}, {@code fence.refusals}, {@code notifications.sent}, {@code notifications.received}
 * <td>counter<td>the value of that name in {@link JdbcFigures}
 * <tr><td>{@code sweeps}, with the tag {@code extent}: {@code window} or {@code full}<td>timer
 * <td>{@link JdbcFigures#sweeps}, {@link JdbcFigures#fullSweeps}
 * <tr><td>{@code swept.timers}, with the same tag<td>counter<td>timers found by these sweeps
 * <tr><td>{@code connection.waits}<td>timer<td>{@link JdbcFigures#connectionWaits}
 * <tr><td>{@code lost.answers}, with the tag {@code outcome}: {@code committed}, {@code aborted} or {@code unknown}<td>counter<td>{@link JdbcFigures#lostAnswersCommitted}, {@link JdbcFigures#lostAnswersAborted}, {@link JdbcFigures#lostAnswersUnknown}
 * </table>
 *
 * <p>The registry does not keep the store alive.
 */
public final class JdbcStoreMetrics implements MeterBinder {
  private static final String PREFIX = "timewheel.durable.jdbc.";

  private final JdbcTimerStore store;
  private final String name;

  /**
   * Makes the meters of a store, not yet bound to a registry.
   *
   * @param store the store
   * @param name the value of the tag {@code timer}
   */
  public JdbcStoreMetrics(JdbcTimerStore store, String name) {
    this.store = requireNonNull(store, "store");
    this.name = requireNonNull(name, "name");
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    new Binding<>(registry, name, store, JdbcTimerStore::figures).bind();
  }

  /**
   * A binding to a registry.
   *
   * @param observed the object with the figures, which the registry does not keep alive
   */
  record Binding<T>(
      MeterRegistry registry, String name, T observed, Function<T, JdbcFigures> figures) {
    void bind() {
      count("shards.received", "Unowned shards taken", JdbcFigures::shardsReceived);
      count("shards.taken.over", "Shards taken from lost nodes", JdbcFigures::shardsTakenOver);
      count("shards.given", "Shards given to other nodes", JdbcFigures::shardsGiven);
      count("leases.lost", "Node leases not renewed in time", JdbcFigures::leasesLost);
      count("fence.refusals", "Commits refused by fencing", JdbcFigures::fenceRefusals);
      count(
          "notifications.sent",
          "Notifications sent with transactions",
          JdbcFigures::notificationsSent);
      count("notifications.received", "Notifications received", JdbcFigures::notificationsReceived);
      sweeps("window", JdbcFigures::sweeps);
      sweeps("full", JdbcFigures::fullSweeps);
      time(
          "connection.waits",
          "Waits for a database connection",
          Tags.empty(),
          JdbcFigures::connectionWaits,
          JdbcFigures::connectionWaitNanos);
      lost("committed", JdbcFigures::lostAnswersCommitted);
      lost("aborted", JdbcFigures::lostAnswersAborted);
      lost("unknown", JdbcFigures::lostAnswersUnknown);
    }

    private void sweeps(String extent, Function<JdbcFigures, JdbcFigures.Sweeps> kind) {
      Tags tags = Tags.of("extent", extent);
      time(
          "sweeps",
          "Sweeps for due timers",
          tags,
          read -> kind.apply(read).count(),
          read -> kind.apply(read).nanos());
      count("swept.timers", "Timers found by sweeps", tags, read -> kind.apply(read).timers());
    }

    private void lost(String outcome, ToLongFunction<JdbcFigures> value) {
      count("lost.answers", "Commits whose answer was lost", Tags.of("outcome", outcome), value);
    }

    private void count(String figure, String description, ToLongFunction<JdbcFigures> value) {
      count(figure, description, Tags.empty(), value);
    }

    private void count(
        String figure, String description, Tags tags, ToLongFunction<JdbcFigures> value) {
      FunctionCounter.builder(PREFIX + figure, observed, of(figures, value)::applyAsLong)
          .description(description)
          .tags(tags.and(TimerMetrics.TAG, name))
          .register(registry);
    }

    private void time(
        String figure,
        String description,
        Tags tags,
        ToLongFunction<JdbcFigures> count,
        ToLongFunction<JdbcFigures> nanos) {
      FunctionTimer.builder(
              PREFIX + figure,
              observed,
              of(figures, count),
              of(figures, nanos)::applyAsLong,
              TimeUnit.NANOSECONDS)
          .description(description)
          .tags(tags.and(TimerMetrics.TAG, name))
          .register(registry);
    }

    /**
     * Returns a function that reads a figure. It is static, because a meter that referred to this
     * binding would keep the observed object alive.
     */
    private static <T> ToLongFunction<T> of(
        Function<T, JdbcFigures> figures, ToLongFunction<JdbcFigures> value) {
      return observed -> value.applyAsLong(figures.apply(observed));
    }
  }
}
