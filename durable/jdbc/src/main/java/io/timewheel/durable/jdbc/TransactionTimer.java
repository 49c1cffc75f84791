// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import io.timewheel.durable.BatchResult;
import io.timewheel.durable.DirectTimers;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.ScheduleResult;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.CancelResult;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.TimerKey;
import java.util.Collection;
import java.util.List;

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
  private final DirectTimers timers;

  TransactionTimer(DirectTimers timers) {
    this.timers = timers;
  }

  /**
   * Schedules a timer, or replaces the one with the same identity, if the transaction commits.
   *
   * @param spec the timer
   * @return the result
   */
  public ScheduleResult schedule(TimerSpec spec) {
    return timers.schedule(spec);
  }

  /**
   * Schedules many timers; each succeeds or fails on its own.
   *
   * @param specs the timers
   * @return their results, in the same order
   */
  public List<BatchResult<ScheduleResult>> scheduleAll(Collection<TimerSpec> specs) {
    return timers.scheduleAll(specs);
  }

  /**
   * Cancels a timer, if the transaction commits.
   *
   * @param namespace its namespace
   * @param id its id
   * @return whether the timer was cancelled in time
   */
  public CancelResult cancel(String namespace, String id) {
    return timers.cancel(new TimerKey(namespace, id), 0);
  }

  /**
   * Cancels a timer if it has a certain version.
   *
   * @param key its identity
   * @param version the version; 0 for any version
   * @return whether the timer was cancelled in time
   */
  public CancelResult cancel(TimerKey key, long version) {
    return timers.cancel(key, version);
  }

  /**
   * Cancels many timers; each succeeds or fails on its own.
   *
   * @param keys their identities
   * @return their results, in the same order
   */
  public List<BatchResult<CancelResult>> cancelAll(Collection<TimerKey> keys) {
    return timers.cancelAll(keys);
  }
}
