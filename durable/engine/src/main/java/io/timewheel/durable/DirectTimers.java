// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.CancelResult;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.ChangeStore;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Schedules and cancels timers without an engine, on the calling thread. A call commits all its
 * changes together. Stores use it for transactions of the application, see {@link
 * DurableTimerBuilder#direct}. Not thread-safe.
 */
public final class DirectTimers {
  private final Changes changes;
  private final ChangeStore store;

  DirectTimers(Changes changes, ChangeStore store) {
    this.changes = changes;
    this.store = store;
  }

  /**
   * Schedules a timer, as {@link DurableTimer#schedule} does.
   *
   * @param spec the timer
   * @return the outcome
   */
  public ScheduleResult schedule(TimerSpec spec) {
    return one(spec, changes.schedule());
  }

  /**
   * Schedules many timers in the order of their keys. Each succeeds or fails on its own.
   *
   * @param specs the timers
   * @return the result of each, in the order of the argument
   */
  public List<BatchResult<ScheduleResult>> scheduleAll(Collection<TimerSpec> specs) {
    return all(specs, TimerSpec::key, changes.schedule());
  }

  /**
   * Cancels a timer if it has a certain version.
   *
   * @param key its key
   * @param version the version; 0 for any
   * @return whether the cancel was in time
   */
  public CancelResult cancel(TimerKey key, long version) {
    Limits.version(version);
    return one(key, changes.cancel(version, null));
  }

  /**
   * Cancels many timers in the order of their keys. Each cancel succeeds or fails on its own.
   *
   * @param keys their keys
   * @return the result of each, in the order of the argument
   */
  public List<BatchResult<CancelResult>> cancelAll(Collection<TimerKey> keys) {
    return all(keys, key -> key, changes.cancel(0, null));
  }

  private <A, T> T one(A item, Changes.Call<A, T> call) {
    Change change = call.change().apply(item);
    return call.result().apply(change, store.commit(List.of(change)).get(0));
  }

  private <A, T> List<BatchResult<T>> all(
      Collection<A> items, Function<A, TimerKey> key, Changes.Call<A, T> call) {
    List<A> asked = new ArrayList<>(items);
    asked.forEach(item -> requireNonNull(item, "item"));
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < asked.size(); i++) {
      order.add(i);
    }
    order.sort(Comparator.comparing(i -> key.apply(asked.get(i))));
    @SuppressWarnings({"unchecked", "rawtypes"}) // an array of a generic type
    @Nullable BatchResult<T>[] results = new BatchResult[asked.size()];
    List<Integer> indexes = new ArrayList<>();
    List<Change> batch = new ArrayList<>();
    for (int i : order) {
      try {
        batch.add(call.change().apply(asked.get(i)));
        indexes.add(i);
      } catch (DurableTimerException | IllegalArgumentException | IllegalStateException e) {
        results[i] = new BatchResult<>(key.apply(asked.get(i)), null, e);
      }
    }
    List<Outcome> outcomes = batch.isEmpty() ? List.of() : store.commit(batch);
    for (int i = 0; i < batch.size(); i++) {
      results[indexes.get(i)] = result(batch.get(i), outcomes.get(i), call);
    }
    return Arrays.asList(results);
  }

  private static <T> BatchResult<T> result(
      Change change, Outcome outcome, Changes.Call<?, T> call) {
    try {
      return new BatchResult<>(change.key(), call.result().apply(change, outcome), null);
    } catch (DurableTimerException e) {
      return new BatchResult<>(change.key(), null, e);
    }
  }
}
