// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import io.timewheel.durable.BatchResult;
import io.timewheel.durable.CancelResult;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.DurableTimerBuilder;
import io.timewheel.durable.ScheduleResult;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.jdbc.internal.handler.TransactionStore;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.StepExecutor;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Schedules and cancels in one transaction of the user, as {@link DurableTimer} does outside: what
 * a call answers holds if the transaction commits, and if it does not, the call was never made. It
 * never commits, rolls back or closes. Not thread-safe, like the connection.
 *
 * <p>Calls throw what those of {@link DurableTimer} throw. A timer that {@code EXISTS}, a version
 * that differs, a limit, or a bad argument leave the transaction as it was. A failure of the
 * database, such as a deadlock, is a {@link DurableTimerException} with its cause; from then on the
 * transaction can only be rolled back, and is best made again as a whole. {@link
 * IllegalStateException} says that the connection is no place for timers: it is in auto-commit
 * mode, its transaction has failed already, is read-only, or is not READ COMMITTED, or it leads
 * elsewhere than the store.
 *
 * <h2>What stays locked</h2>
 *
 * From the call until the transaction ends, it holds the timer, and a key that it has made. In that
 * time the timer does not begin to fire, and an attempt that runs cannot record its end; another
 * transaction that wants the timer waits, by its own limit for locks; a call of {@link
 * DurableTimer} waits for about a second, on MariaDB for up to two, and then fails with {@code
 * STORE_UNAVAILABLE}. Other timers are not held up for longer than that. So use timers last, and
 * commit soon.
 *
 * <h2>Deadlocks</h2>
 *
 * Transactions that take the same rows in different orders may wait for each other, and PostgreSQL
 * ends one of them after its {@code deadlock_timeout}, a second; MariaDB at once the one that has
 * written less. The timers of one call are taken in the order of their namespaces and ids, and
 * calls one after the other. A transaction that takes its own rows first, always in one order, and
 * then all timers in one call, has nothing to fear from another that does the same. On PostgreSQL
 * it never loses to the engine, which gives way sooner: after 100 ms, a {@linkplain
 * TransactionHandler handler in a transaction} after 500.
 */
public final class TransactionTimer {
  /** So that no payloads are too large for one commit. */
  private static final int CALLS_PER_COMMIT = 200;

  private final TransactionStore store;
  private final DurableTimer timer;

  /**
   * The engine does here what it does outside, but on the calling thread, and without ever being
   * started: it checks, makes a change of what is asked for, and a result of the answer.
   *
   * @param settings of the timer outside
   */
  TransactionTimer(
      TransactionStore store, Function<TransactionStore, DurableTimerBuilder> settings) {
    this.store = store;
    timer =
        settings
            .apply(store)
            .storeExecutor(new CallingThread())
            .handlerExecutor(Runnable::run)
            .queueCapacity(Integer.MAX_VALUE, true)
            .build();
  }

  /**
   * Schedules a timer, or replaces the one of the same identity, if the transaction commits.
   *
   * @param spec what is asked for
   * @return what is done
   */
  public ScheduleResult schedule(TimerSpec spec) {
    return one(() -> timer.schedule(spec));
  }

  /**
   * Schedules many timers, each by itself.
   *
   * @param specs what is asked for
   * @return what comes of each, in the same order
   */
  public List<BatchResult<ScheduleResult>> scheduleAll(Collection<TimerSpec> specs) {
    return all(specs, TimerSpec::key, timer::scheduleAll);
  }

  /**
   * Cancels a timer, if the transaction commits.
   *
   * @param namespace its namespace
   * @param id its id
   * @return whether it is in time
   */
  public CancelResult cancel(String namespace, String id) {
    return one(() -> timer.cancel(namespace, id));
  }

  /**
   * Cancels a timer if it has a certain version.
   *
   * @param key its identity
   * @param version the version; 0 for any
   * @return whether it is in time
   */
  public CancelResult cancel(TimerKey key, long version) {
    return one(() -> timer.cancel(key, version));
  }

  /**
   * Cancels many timers, each by itself.
   *
   * @param keys their identities
   * @return what comes of each, in the same order
   */
  public List<BatchResult<CancelResult>> cancelAll(Collection<TimerKey> keys) {
    return all(keys, key -> key, timer::cancelAll);
  }

  private <T> T one(Supplier<T> call) {
    store.beginCall();
    return call(call);
  }

  private <T> T call(Supplier<T> call) {
    T result;
    try {
      result = call.get();
    } catch (DurableTimerException e) {
      throwFailure();
      throw e;
    }
    throwFailure(); // which may be hidden in the answers of many
    return result;
  }

  private void throwFailure() {
    RuntimeException failure = store.takeFailure();
    if (failure != null) {
      throw failure;
    }
  }

  /** In the order of the keys, in which all transactions take them. */
  private <A, T> List<BatchResult<T>> all(
      Collection<A> items,
      Function<A, TimerKey> key,
      Function<Collection<A>, List<BatchResult<T>>> call) {
    store.beginCall();
    List<A> asked = new ArrayList<>(items);
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < asked.size(); i++) {
      order.add(i);
    }
    order.sort(Comparator.comparing(i -> key.apply(asked.get(i))));
    @SuppressWarnings({"unchecked", "rawtypes"}) // an array of a generic type
    @Nullable BatchResult<T>[] results = new BatchResult[asked.size()];
    for (int from = 0; from < asked.size(); from += CALLS_PER_COMMIT) {
      List<Integer> some = order.subList(from, Math.min(asked.size(), from + CALLS_PER_COMMIT));
      List<BatchResult<T>> answers = call(() -> call.apply(some.stream().map(asked::get).toList()));
      for (int i = 0; i < answers.size(); i++) {
        results[some.get(i)] = answers.get(i);
      }
    }
    return Arrays.asList(results);
  }

  /** Runs everything on the thread that waits for it. */
  private static final class CallingThread implements StepExecutor {
    private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();

    @Override
    public void execute(Runnable task) {
      tasks.add(task);
    }

    @Override
    public boolean runOne() {
      Runnable task = tasks.poll();
      if (task != null) {
        task.run();
      }
      return task != null;
    }
  }
}
