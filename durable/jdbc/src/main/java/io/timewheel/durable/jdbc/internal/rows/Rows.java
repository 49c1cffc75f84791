// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.rows;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.format.Codes;
import io.timewheel.durable.spi.format.MalformedException;
import io.timewheel.durable.spi.format.RecordCodec;
import io.timewheel.durable.spi.record.TimerRecord;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Maps records to rows. */
public final class Rows {
  /**
   * The time of creation. On PostgreSQL, the column is null in a new version until its first
   * change: the timer was then created at changed_at. A statement that sets changed_at must set it.
   */
  public static final String CREATED_AT = "coalesce(t.created_at, t.changed_at)";

  public static final String COLUMNS =
      "t.namespace, t.id, t.version, t.revision, t.state, t.flags, t.due_at, "
          + CREATED_AT
          + " AS created_at, t.changed_at, t.attempt, t.handler, t.spec, t.progress";

  /**
   * The columns of an unfinished timer. A finished timer has other values in place of the last two.
   */
  public static final String TIMER_COLUMNS = COLUMNS + ", t.fire_at, t.payload";

  /** The condition that a finished timer is still retained. */
  public static final String NOT_PURGED =
      "(t.changed_at, t.namespace, t.id)"
          + " > (SELECT forgotten_at, forgotten_namespace, forgotten_id FROM timewheel_history)";

  /** The column after those that all queries for records have. */
  public static final int PAYLOAD_HASH = 16;

  private static final int QUEUE = 1;
  private static final int RECURRING = 1 << 1;
  private static final int PAUSED = 1 << 2;
  private static final int CANCEL_REQUESTED = 1 << 3;
  private static final int DEFERRED = 1 << 4;

  private Rows() {}

  public static int state(TimerRecord record) {
    return Codes.STATES.of(record.state());
  }

  public static int flags(TimerRecord record) {
    return (record.definition().queue() ? QUEUE : 0)
        | (record.definition().isRecurring() ? RECURRING : 0)
        | (record.paused() ? PAUSED : 0)
        | (record.cancelRequested() ? CANCEL_REQUESTED : 0)
        | (record.isDeferred() ? DEFERRED : 0);
  }

  public static boolean isQueue(int flags) {
    return (flags & QUEUE) != 0;
  }

  /** {@return the timers whose target is a queue} */
  public static List<TimerRecord> ofQueues(List<TimerRecord> records) {
    return records.stream().filter(record -> record.definition().queue()).toList();
  }

  /** {@return the timers whose target is a handler} */
  public static List<TimerRecord> ofHandlers(List<TimerRecord> records) {
    return records.stream().filter(record -> !record.definition().queue()).toList();
  }

  public static boolean isRecurring(int flags) {
    return (flags & RECURRING) != 0;
  }

  public static boolean isDeferred(int flags) {
    return (flags & DEFERRED) != 0;
  }

  public static byte[] spec(TimerRecord record) {
    return RecordCodec.encodeSpec(record.definition());
  }

  public static byte @Nullable [] progress(TimerRecord record) {
    return RecordCodec.encodeProgress(record);
  }

  /** {@return the record in the current row} */
  public static TimerRecord record(ResultSet row) throws SQLException {
    TimerKey key = new TimerKey(row.getString(1), row.getString(2));
    try {
      int flags = row.getInt(6);
      RecordCodec.Progress progress = RecordCodec.decodeProgress(row.getBytes(13));
      long fireAt = row.getLong(14);
      boolean never = row.wasNull(); // wasNull() refers to the column that was read last
      return new TimerRecord(
          key,
          row.getLong(3),
          row.getLong(4),
          Codes.STATES.at(row.getInt(5)),
          RecordCodec.decodeSpec(
              row.getBytes(12), row.getString(11), isQueue(flags), row.getBytes(15)),
          row.getLong(7),
          never ? TimerRecord.NEVER : fireAt,
          progress.runAt(),
          row.getInt(10),
          progress.runs(),
          progress.claim(),
          progress.former(),
          (flags & PAUSED) != 0,
          (flags & CANCEL_REQUESTED) != 0,
          row.getLong(8),
          row.getLong(9),
          progress.note(),
          progress.trace(),
          progress.attempts());
    } catch (MalformedException | IllegalArgumentException e) {
      throw new StoreException(
          StoreException.Kind.REJECTED, key + " cannot be read: " + e.getMessage(), e);
    }
  }

  /** {@return a hash that distinguishes deleted payloads; null for an empty payload} */
  public static byte @Nullable [] hash(byte[] payload) {
    if (payload.length == 0) {
      return null;
    }
    try {
      return MessageDigest.getInstance("SHA-256").digest(payload);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e); // every JDK has this algorithm
    }
  }
}
