// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.write;

import io.timewheel.durable.jdbc.internal.notifications.NotificationChannel;
import io.timewheel.durable.jdbc.internal.server.CommitProof;
import io.timewheel.durable.jdbc.internal.server.DirectInserts;
import io.timewheel.durable.jdbc.internal.server.DirectInserts.Found;
import io.timewheel.durable.jdbc.internal.server.DirectInserts.Look;
import io.timewheel.durable.jdbc.internal.server.ServerErrors;
import io.timewheel.durable.jdbc.internal.sql.Log;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.jdbc.internal.transaction.Transactions;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerRecord;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Schedules new timers in one round trip, without BEGIN and COMMIT. A write batch does all other
 * work: calls with a request ID, a limit or an expected version, timers that already exist, and
 * timers without a run.
 *
 * <h2>How a lost answer is settled</h2>
 *
 * The caller does not know the transaction's number, so it cannot query the server for the outcome.
 * Instead, each write has a unique token. The rows of its timers, or their rows in the history,
 * contain the token until another version replaces it. The token takes 8 bytes, so only the first
 * eight rows of a list, in the order of the keys, contain it. On MariaDB, a commit row contains the
 * token instead, and is read after the timers: if it is missing, other writes inserted them, and
 * they count as known. A session that lost the answer looks up the timers by their keys:
 *
 * <ol>
 *   <li>A row has the token: the write was committed.
 *   <li>A row has a version that this session knew before the write: the timer existed, and the
 *       write did not insert it. A write that is still in progress will also find the timer and
 *       insert nothing.
 *   <li>There is no row, and the session that sent the write has ended: the write was not
 *       committed. The next statement reports the reason, such as a read-only database.
 *   <li>There is no row, and the session may still be alive: this session repeats the insert with
 *       the same token. Because of the unique key, the insert fails while a write is in progress
 *       (on PostgreSQL after a short wait), and rejects a write that arrives later.
 *   <li>Rows exist, but none has the token, and all have later versions: the write may have been
 *       committed and replaced. Or the history is purged up to the time of the write: the timers
 *       may have finished. In both cases, the outcome is unknown.
 * </ol>
 *
 * <p>Thread-safe.
 */
final class DirectWrites {
  /** The maximum time by which the clock of a node that finishes a timer may be behind. */
  private static final long CLOCK_MILLIS = 60_000;

  /** The maximum number of calls that skip the direct write after a timer that was not new. */
  private static final int MAX_PASSED_OVER = 64;

  /** Stands for the version, which the server assigns. */
  private static final long UNASSIGNED = 1;

  private final DirectInserts inserts;
  private final ServerErrors errors;
  private final CommitProof commits;
  private final Transactions transactions;
  private final WriteContext context;
  private final Novelty novelty;
  private final HeldTimers heldTimers;
  private final AtomicLong tokens = new AtomicLong(new SecureRandom().nextLong());

  /** The latest version known to this session. */
  private final AtomicLong newestVersion = new AtomicLong();

  /** False if the server does not execute the statements as one transaction, or refuses them. */
  private volatile boolean isPossible;

  /** The number of further calls that skip the direct write and use a write batch. */
  private final AtomicInteger passedOver = new AtomicInteger();

  /** The value of {@link #passedOver} after the last timer that was not new. */
  private final AtomicInteger lastPassedOver = new AtomicInteger();

  DirectWrites(Transactions transactions, WriteContext context) {
    this.transactions = transactions;
    this.context = context;
    inserts = context.server().directInserts();
    errors = context.server().errors();
    commits = context.server().commits();
    novelty = context.novelty();
    heldTimers = context.heldTimers();
    isPossible = transactions.read(inserts::isPossible);
  }

  /**
   * Records the versions of the records in the outcomes of a commit. An outcome without a record
   * may contain a number of the caller.
   */
  void seen(List<Outcome> outcomes) {
    long newest = 0;
    for (Outcome outcome : outcomes) {
      TimerRecord record = outcome.record();
      newest = record == null ? newest : Math.max(newest, record.version());
    }
    if (newest > newestVersion.get()) {
      newestVersion.accumulateAndGet(newest, Math::max);
    }
  }

  /**
   * Commits changes, if all of them schedule new timers.
   *
   * @return their outcomes; null if nothing was changed, and a write batch must commit them
   */
  @Nullable List<Outcome> commit(List<Change> changes, @Nullable NotificationChannel channel) {
    if (!isPossible || !isDirect(changes) || isPassedOver(changes.size())) {
      return null;
    }
    List<New> timers = new ArrayList<>(changes.size());
    for (int i = 0; i < changes.size(); i++) {
      Change.Schedule change = (Change.Schedule) changes.get(i);
      timers.add(new New(i, TimerRecord.scheduled(change, UNASSIGNED, null)));
    }
    timers.sort(Comparator.comparing(New::key));
    for (int i = 1; i < timers.size(); i++) {
      if (timers.get(i).key().equals(timers.get(i - 1).key())) {
        return null;
      }
    }
    Insert insert = new Insert(timers, channel);
    if (heldTimers.containsAny(insert.keys) || !inserts.fits(insert.records)) {
      return null;
    }
    if (!insert.commit()) {
      return null;
    }
    return insert.outcomes();
  }

  private static boolean isDirect(List<Change> changes) {
    for (Change change : changes) {
      if (!(change instanceof Change.Schedule schedule)
          || schedule.condition() == Change.Condition.VERSION
          || schedule.request() != null
          || schedule.dueAt() == TimerRecord.NEVER
          || schedule.maxPending() != TimerRecord.NEVER) {
        return false;
      }
    }
    return true;
  }

  private boolean isPassedOver(int timers) {
    if (timers > 1) {
      return !novelty.isLikely();
    }
    return passedOver.get() > 0 && passedOver.getAndDecrement() > 0;
  }

  private void foundOld(int timers) {
    if (timers > 1) {
      novelty.refuted();
    } else {
      passedOver.set(
          lastPassedOver.updateAndGet(last -> Math.min(Math.max(1, 2 * last), MAX_PASSED_OVER)));
    }
  }

  /**
   * A timer that is assumed to be new.
   *
   * @param changeIndex the index of its change in the call
   */
  private record New(int changeIndex, TimerRecord record) {
    TimerKey key() {
      return record.key();
    }
  }

  /** One write, with its repetitions after a lost answer. */
  private final class Insert {
    private final List<New> timers;
    private final List<TimerRecord> records;
    private final List<TimerKey> keys;
    private final long token = tokens.incrementAndGet();
    private final long knownVersion = newestVersion.get();
    private final Consumer<Statements> notification;

    /** The only session in which an insert may be in progress; 0 if it is unknown. */
    private int session;

    private long firstVersion;
    private boolean inserted;

    /** True if the session whose answer was lost had ended before the last lookup. */
    private boolean hasEnded;

    /**
     * Prepares an insert.
     *
     * @param timers in the order of their keys
     */
    Insert(List<New> timers, @Nullable NotificationChannel channel) {
      this.timers = timers;
      records = timers.stream().map(New::record).toList();
      keys = timers.stream().map(New::key).toList();
      WriteContext others = context.with(context.ownEpoch(), channel);
      notification = to -> others.notifyOthers(to, records.stream());
    }

    /** {@return false if nothing was inserted} */
    boolean commit() {
      try {
        transactions.direct(
            connection -> {
              session = inserts.session(connection);
              return insert(connection);
            });
      } catch (SQLException e) {
        if (!inserts.mayBeCommitted(e)) {
          return false;
        }
        boolean wasCommitted = transactions.isCommitted(e, this::settle);
        return wasCommitted || inserted;
      }
      return inserted;
    }

    private boolean insert(Connection connection) throws SQLException {
      DirectInserts.Answer answer;
      try {
        answer = inserts.insert(connection, records, token, context.shards(), notification);
      } catch (SQLException e) {
        if (inserts.isNotNew(e)) {
          foundOld(records.size());
        } else if (errors.isHeldUp(e) && keys.size() == 1) {
          heldTimers.add(keys); // the write batch finds the held timers of a list
        } else if (inserts.isRefused(e) && isPossible) {
          isPossible = false;
          Log.LOG.log(
              System.Logger.Level.WARNING,
              "the database refuses schedules in one statement: from now on each call has a"
                  + " transaction",
              e);
        }
        throw e;
      }
      if (!answer.oneTransaction() && isPossible) {
        isPossible = false;
        Log.LOG.log(
            System.Logger.Level.WARNING,
            "connections of this pool do not send two statements as one transaction in READ"
                + " COMMITTED: from now on each call has a transaction");
      }
      if (answer.inserted()) {
        firstVersion = answer.firstVersion();
        inserted = true;
        if (lastPassedOver.get() > 0) {
          lastPassedOver.set(0);
        }
      } else if (answer.oneTransaction()) {
        foundOld(records.size());
      }
      return inserted;
    }

    /** Looks up the timers after a lost answer, and inserts them if they do not exist. */
    private @Nullable Boolean settle(AtomicInteger confirmations) throws SQLException {
      Look look = transactions.direct(connection -> look(connection, confirmations));
      for (Found found : look.timers()) {
        if (found.own()) {
          firstVersion = found.version() - Collections.binarySearch(keys, found.key());
          return true;
        }
      }
      boolean isPurged = look.purgedUntil() > records.get(0).createdAt() - CLOCK_MILLIS;
      if (!look.isPrimary() || isPurged) {
        return null;
      }
      if (look.timers().stream().anyMatch(found -> found.version() <= knownVersion)) {
        return false;
      }
      if (!look.timers().isEmpty()) {
        return null;
      }
      if (hasEnded) {
        return false;
      }
      try {
        return transactions.direct(this::insert) ? false : null;
      } catch (SQLException e) {
        if (inserts.mayBeCommitted(e)) {
          session = 0; // even if it has ended, the repetition may be in progress in another one
          throw e;
        }
        return null; // the next lookup finds the timer, or fails with the same reason
      }
    }

    private Look look(Connection connection, AtomicInteger confirmations) throws SQLException {
      hasEnded = inserts.hasEnded(connection, session); // before the lookup
      Look look = inserts.look(connection, keys, token);
      if (look.timers().stream().anyMatch(Found::own)) {
        confirmations.incrementAndGet();
        commits.touch(connection);
      }
      return look;
    }

    List<Outcome> outcomes() {
      Outcome[] outcomes = new Outcome[timers.size()];
      for (int i = 0; i < outcomes.length; i++) {
        long version = firstVersion + i;
        outcomes[timers.get(i).changeIndex()] =
            new Outcome(
                Outcome.Answer.CREATED, version, records.get(i).copy().version(version).build());
      }
      return Arrays.asList(outcomes);
    }
  }
}
