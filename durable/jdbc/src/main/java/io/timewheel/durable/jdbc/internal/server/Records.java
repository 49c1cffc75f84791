// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.server;

import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.jdbc.internal.sql.Statements.Answer;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.batch.StateCounts.Count;
import io.timewheel.durable.spi.record.TimerRecord;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Executes the statements for the records of a write batch. Lists of keys and records are sorted by
 * key, and each statement locks rows in that order.
 */
public interface Records {
  /** A finished timer; its payload is not retained. */
  @SuppressWarnings("ArrayRecordComponent") // not copied, and not changed
  record Finished(TimerRecord record, byte @Nullable [] payloadHash) {}

  /**
   * Defines how a read locks unfinished timers, and how it treats timers that other transactions
   * hold.
   */
  enum Lock {
    /** Locks nothing: the timers may change before they are written. */
    NONE(""),
    WAIT(""),
    PASS_OVER(" SKIP LOCKED");

    /** The SQL text after FOR UPDATE. */
    public final String sql;

    Lock(String sql) {
      this.sql = sql;
    }
  }

  /** Reads unfinished timers, with or without locks. */
  Answer<Map<TimerKey, TimerRecord>> read(Statements to, List<TimerKey> keys, Lock lock)
      throws SQLException;

  /**
   * {@return the keys of the unfinished timers that exist, even if other transactions hold them}
   */
  Set<TimerKey> present(Connection connection, List<TimerKey> keys) throws SQLException;

  /** Reads finished timers. */
  Answer<Map<TimerKey, Finished>> finished(Statements to, List<TimerKey> keys) throws SQLException;

  /**
   * Inserts timers.
   *
   * @param daring whether the transaction may {@linkplain ServerErrors#isThere fail} if a timer
   *     exists, which is cheaper if none does
   * @return for each timer, whether it was inserted because it did not exist
   */
  Answer<boolean[]> insert(Statements to, List<TimerRecord> records, int shards, boolean daring)
      throws SQLException;

  /** Deletes the timers that {@link #insert} has inserted. */
  void remove(Statements to, List<TimerRecord> records) throws SQLException;

  /** A record as it was read, and as it will be written. */
  record Step(TimerRecord before, TimerRecord after) {
    /** {@return whether the step changes the version or the definition of the timer} */
    @SuppressWarnings("ReferenceEquality")
    public // an unchanged definition is the same object
    boolean isReplaced() {
      return before.version() != after.version() || before.definition() != after.definition();
    }

    /** {@return the new records of the selected steps} */
    public static List<TimerRecord> after(List<Step> steps, boolean[] which) {
      List<TimerRecord> after = new ArrayList<>(steps.size());
      for (int i = 0; i < which.length; i++) {
        if (which[i]) {
          after.add(steps.get(i).after());
        }
      }
      return after;
    }
  }

  /**
   * Writes the progress of records.
   *
   * @return for each record, whether it was as it had been read
   */
  Answer<boolean[]> advance(Statements to, List<Step> steps) throws SQLException;

  /**
   * Writes whole records.
   *
   * @return for each record, whether it was as it had been read
   */
  Answer<boolean[]> replace(Statements to, List<Step> steps) throws SQLException;

  /**
   * Moves records to the history.
   *
   * @return for each record, whether it was as it had been read
   */
  Answer<boolean[]> finish(Statements to, List<Step> steps) throws SQLException;

  /**
   * The answer to {@link #finishOne}.
   *
   * @param applied whether the record was as it had been read
   * @param epoch the epoch of the shard; null if there is no such shard
   * @param transactionId as for {@link CommitProof#transactionId}
   */
  record FinishedOne(boolean applied, @Nullable Long epoch, Optional<String> transactionId) {}

  /**
   * Moves a record to the history, adds to the counters, and locks the epoch of a shard, with one
   * statement.
   *
   * @return the answer; null if the server needs several statements
   */
  default @Nullable Answer<FinishedOne> finishOne(
      Statements to, Step step, List<Count> counts, int shard) {
    return null;
  }

  /** Inserts timers into the history, which has none with their keys. */
  void insertFinished(Statements to, List<Finished> timers) throws SQLException;

  /**
   * Deletes records from the history.
   *
   * @return for each record, whether it existed
   */
  Answer<boolean[]> unfinish(Statements to, List<TimerRecord> records) throws SQLException;

  void addReady(Statements to, List<TimerRecord> records) throws SQLException;

  void removeReady(Statements to, List<TimerRecord> records) throws SQLException;
}
