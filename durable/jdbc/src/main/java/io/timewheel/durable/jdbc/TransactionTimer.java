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
 * Schedules and cancels timers in one transaction of the user. Calls return the same results as
 * those of {@link DurableTimer}, and take effect only if the transaction commits. This class never
 * commits, rolls back or closes the connection. Not thread-safe, like the connection.
 *
 * <p>Calls throw the same exceptions as those of {@link DurableTimer}. The transaction stays usable
 * after {@code EXISTS}, another version, a limit, or an invalid argument. If the database fails,
 * for example by a deadlock, calls throw a {@link DurableTimerException} with its cause. The
 * transaction can then only be rolled back; repeat it as a whole. Calls throw {@link
 * IllegalStateException} if the connection cannot be used for timers. That is the case if it is in
 * auto-commit mode or leads to another database than the store. It is also the case if its
 * transaction has failed, is read-only, or is not READ COMMITTED.
 *
 * <h2>Locks</h2>
 *
 * From the call until its end, the transaction holds locks on the timer and on any key that it
 * inserts. Meanwhile the timer does not begin to fire, and a running attempt cannot record its
 * completion. Another transaction that needs the timer waits, up to its own lock timeout. A call of
 * {@link DurableTimer} waits for 5 s and then fails with {@code BUSY}. Other timers do not wait for
 * it. So use timers last, and commit soon.
 *
 * <h2>Deadlocks</h2>
 *
 * Transactions that lock the same rows in different orders may wait for each other. PostgreSQL ends
 * one of them after {@code deadlock_timeout} (1 s). MariaDB immediately ends the one that has
 * written less. One call locks its timers in the order of their namespaces and ids; several calls
 * lock one after the other. To avoid deadlocks, lock your own rows first, always in the same order,
 * and then use all timers in one call. On PostgreSQL such a transaction never loses to the engine,
 * which gives up earlier: after 100 ms, or after 500 ms in a {@linkplain TransactionHandler handler
 * in a transaction}.
 */
public final class TransactionTimer {
  /** Keeps the payloads of one commit within its size limit. */
  private static final int CALLS_PER_COMMIT = 200;

  private final TransactionStore store;
  private final DurableTimer timer;

  /**
   * Creates an engine that runs on the calling thread and is never started. It does the same as the
   * user's scheduler: it checks arguments, makes a change, and converts the outcome to a result.
   *
   * @param settings the settings of the scheduler
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
   * Schedules a timer, or replaces the one with the same identity, if the transaction commits.
   *
   * @param spec the timer
   * @return the result
   */
  public ScheduleResult schedule(TimerSpec spec) {
    return one(() -> timer.schedule(spec));
  }

  /**
   * Schedules many timers; each succeeds or fails on its own.
   *
   * @param specs the timers
   * @return their results, in the same order
   */
  public List<BatchResult<ScheduleResult>> scheduleAll(Collection<TimerSpec> specs) {
    return all(specs, TimerSpec::key, timer::scheduleAll);
  }

  /**
   * Cancels a timer, if the transaction commits.
   *
   * @param namespace its namespace
   * @param id its id
   * @return whether the timer was cancelled in time
   */
  public CancelResult cancel(String namespace, String id) {
    return one(() -> timer.cancel(namespace, id));
  }

  /**
   * Cancels a timer if it has a certain version.
   *
   * @param key its identity
   * @param version the version; 0 for any version
   * @return whether the timer was cancelled in time
   */
  public CancelResult cancel(TimerKey key, long version) {
    return one(() -> timer.cancel(key, version));
  }

  /**
   * Cancels many timers; each succeeds or fails on its own.
   *
   * @param keys their identities
   * @return their results, in the same order
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
    throwFailure(); // the results of a batch may not contain the failure
    return result;
  }

  private void throwFailure() {
    RuntimeException failure = store.takeFailure();
    if (failure != null) {
      throw failure;
    }
  }

  /** Processes timers in the order of their keys, in which all transactions lock them. */
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

  /** An executor whose tasks run on the thread that waits for them. */
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
