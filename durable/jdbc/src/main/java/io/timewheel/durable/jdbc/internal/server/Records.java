// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.server;

import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.jdbc.internal.sql.Statements.Answer;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.TimerRecord;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The statements for the records of a write batch. Lists of keys and records are sorted by key, and
 * rows are locked in that order by each statement.
 */
public interface Records {
  /** A finished timer, whose payload is not kept. */
  @SuppressWarnings("ArrayRecordComponent") // not copied, and not changed
  record Finished(TimerRecord record, byte @Nullable [] payloadHash) {}

  /** How unfinished timers are locked, and what to do about one that another transaction holds. */
  enum Lock {
    /** They are not: they may be others by the time that they are written. */
    NONE(""),
    WAIT(""),
    PASS_OVER(" SKIP LOCKED");

    /** What stands behind FOR UPDATE. */
    public final String sql;

    Lock(String sql) {
      this.sql = sql;
    }
  }

  /** Reads unfinished timers, and locks them or not. */
  Answer<Map<TimerKey, TimerRecord>> read(Statements to, List<TimerKey> keys, Lock lock)
      throws SQLException;

  /** {@return which unfinished timers there are, held by others or not} */
  Set<TimerKey> present(Connection connection, List<TimerKey> keys) throws SQLException;

  /** Reads finished timers. */
  Answer<Map<TimerKey, Finished>> finished(Statements to, List<TimerKey> keys) throws SQLException;

  /**
   * Inserts timers.
   *
   * @param daring whether the transaction may {@linkplain ServerErrors#isThere fail} if one is
   *     there, and be cheaper if none is
   * @return which were inserted, and not there already
   */
  Answer<boolean[]> insert(Statements to, List<TimerRecord> records, int shards, boolean daring)
      throws SQLException;

  /** Takes out what {@link #insert} has inserted. */
  void remove(Statements to, List<TimerRecord> records) throws SQLException;

  /** A record as it was read, and as it is to be. */
  record Step(TimerRecord before, TimerRecord after) {
    /** {@return whether it makes another version of a timer, or another definition} */
    @SuppressWarnings("ReferenceEquality")
    public // a definition that is left as it is is the same object
    boolean isReplaced() {
      return before.version() != after.version() || before.definition() != after.definition();
    }

    /** {@return what has become of some of many} */
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

  /** Writes what has become of records. {@return which were there as they had been read} */
  Answer<boolean[]> advance(Statements to, List<Step> steps) throws SQLException;

  /** Writes all of the records. {@return which were there as they had been read} */
  Answer<boolean[]> replace(Statements to, List<Step> steps) throws SQLException;

  /** Moves records to the history. {@return which were there as they had been read} */
  Answer<boolean[]> finish(Statements to, List<Step> steps) throws SQLException;

  /** Takes records out of the history. {@return which were there} */
  Answer<boolean[]> unfinish(Statements to, List<TimerRecord> records) throws SQLException;

  void addReady(Statements to, List<TimerRecord> records) throws SQLException;

  void removeReady(Statements to, List<TimerRecord> records) throws SQLException;
}
